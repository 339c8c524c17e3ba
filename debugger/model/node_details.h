// What is said of a node in more than one panel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// Whether a barrier is emitted before a step of the node; one per node.
std::vector<bool> nodes_with_barriers(const Capture& capture);

/// The kernels of its steps, each once, joined by ", ".
std::string kernels_text(const Capture& capture, const Capture::Node& node);

/// "file:line"; empty if the file has no source.
std::string source_text(const Capture::Node& node);

/// Without the folders: "forward.cpp:31".
std::string short_source_text(const Capture::Node& node);

/// What it reads and writes, as far as known.
std::optional<std::uint64_t> bytes_of(const Capture::Node& node);

/// Its times in the range; null if it has none.
const NodeTiming* timing_of(const CaptureStatistics& statistics, std::uint32_t node);

/// Of the total of all nodes, 0 to 1.
double share_of(const CaptureStatistics& statistics, const NodeTiming& timing);

struct Attribute {
  std::string name, value;
  bool from_state = false;  // `value` is the field that is read at every replay
};

/// Decoded from its JSON; one attribute without a name, the text as it is, if that is no object.
std::vector<Attribute> attributes_of(const Capture::Node& node);

/// The tensor whose memory an alias is; itself if it is none.
std::uint32_t aliased(const Capture& capture, std::uint32_t tensor);

/// The nodes that a node waits for because of the memory of a tensor, and those that wait for it.
struct Neighbours {
  std::vector<std::uint32_t> before, after;
};
Neighbours neighbours_of(const Capture& capture, std::uint32_t node, std::uint32_t tensor);

}  // namespace reprise::debugger
