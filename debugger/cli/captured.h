// A capture that a command is about, with one of its replays.
#pragma once
#include "debugger/cli/db_commands.h"

namespace reprise::cli {

struct Captured {
  Capture capture;
  std::optional<ReplayRow> replay;
  std::vector<CapturedStepTime> times;  // of the replay; empty if the file has none
};

Captured read_captured(const std::string& path, const CaptureSelector& wish);

/// When a node ran: from its first step to its last, without the time between them.
struct NodeTime {
  std::optional<std::uint64_t> start_ns, duration_ns;
};
NodeTime time_of_node(const Captured& captured, std::uint32_t node);

/// "forward.cpp:12"; empty if unknown.
std::string source_of(const Capture::Node& node);
/// Bytes read and written; empty if the op has no cost.
std::optional<std::uint64_t> bytes_of(const Capture::Node& node);

/// Run, graph and, if there is one, replay: in a heading, and as facts.
std::string title_of(const Captured& captured);
void add_facts(const Captured& captured, Report& report);

}  // namespace reprise::cli
