// How replays of a graph look in a trace: a slice per node, in the scopes around it.
#pragma once
#include <span>

#include "debugger/cli/trace_writer.h"
#include "framework/profile/capture_reader.h"

namespace reprise::cli {

class TraceGraph {
 public:
  explicit TraceGraph(Capture capture);

  const Capture& capture() const { return capture_; }
  /// When the last step ended, since the replay began.
  static std::int64_t end_ns(std::span<const CapturedStepTime> times);
  /// A replay that began at `begin_ns`; `times`: one per step. A node whose steps others run in
  /// between, as passes reorder them, has a slice for each part of it.
  void write(TraceWriter& writer, TraceTrack track, std::int64_t begin_ns,
             std::span<const CapturedStepTime> times) const;
  /// The bytes of the arena that are in use, from step to step.
  void write_memory(TraceWriter& writer, int process, std::int64_t begin_ns,
                    std::span<const CapturedStepTime> times) const;

 private:
  struct Slice {
    std::string_view name;
    std::int64_t begin_ns = 0, end_ns = 0;
    std::optional<std::uint32_t> node{};
    std::int64_t duration_ns = 0;  // of its steps
    std::uint32_t steps = 0;
  };
  std::vector<Slice> slices(std::span<const CapturedStepTime> times) const;
  std::string arguments(const Slice& slice) const;
  Capture capture_;
  std::vector<std::string> node_arguments_;  // what all replays have in common
};

}  // namespace reprise::cli
