// Which capture of a profiling database somebody means who names a graph, a replay, both or
// neither. As the other readers: works while the file is written, throws io if it cannot be read.
#pragma once
#include "framework/profile/capture_reader.h"

namespace reprise {

struct CaptureSelector {
  std::optional<std::int64_t> graph{}, replay{};
};

struct SelectedCapture {
  CaptureId capture;
  /// The replay asked for, or the last one with step times; empty if the graph has none.
  std::optional<std::int64_t> replay;
};

/// Without a graph: that of the replay, or of the last replay with step times, or the latest.
/// Throws invalid_argument if the database has no such graph or replay, or the replay is of another
/// graph.
SelectedCapture choose_capture(const std::filesystem::path& path, const CaptureSelector& wish);

/// An allocation of a run, or what it is called while it lives.
struct BufferSummary {
  std::int64_t id = 0;
  std::string name, kind;
  std::uint64_t bytes = 0;
  std::int64_t allocated_ns = 0;           // since the run began
  std::optional<std::int64_t> freed_ns{};  // the same; empty: it lived to the end
  std::optional<std::int64_t> pool{};      // of the graph asked for, if the buffer serves as one
};

/// Of the run of a capture, in the order in which they were made.
std::vector<BufferSummary> read_buffers(const std::filesystem::path& path, CaptureId id);

}  // namespace reprise
