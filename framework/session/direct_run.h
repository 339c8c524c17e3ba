// DirectRun: encodes the nodes of a direct session as they are recorded, with the same lowering and
// hazard tracking as a plan. Nothing is submitted before finish().
#pragma once
#include <memory>
#include <vector>

#include "framework/session/executor_core.h"
#include "framework/session/graph_capture.h"
#include "framework/session/labels.h"

namespace reprise {

class DirectRun {
 public:
  DirectRun(std::shared_ptr<ExecutorCore> core, std::string_view name, const GraphSizes& expected);

  /// Gives a storage its memory, once. Inputs get memory that no earlier step used: their values
  /// are copied before the first step runs.
  void place(const ComputeGraph& graph, std::uint32_t storage);
  /// Encodes the newest node of the graph.
  void encode_node(GraphCapture& capture);
  /// Where a tensor lives.
  Exchange exchange(const ComputeGraph& graph, std::string name, std::uint32_t tensor);
  std::unique_ptr<Encoding> finish();

  /// After finish(): the memory goes with the submission.
  ExecutorCore::ArenaLoan take_arena() { return std::move(arena_); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(steps_.size()); }
  std::uint32_t barriers() const { return static_cast<std::uint32_t>(tracker_.barriers().size()); }
  std::uint64_t arena_bytes() const { return arena_->bytes(); }
  std::uint32_t arena_growths() const { return arena_->growths(); }

 private:
  static constexpr std::uint32_t kUnplaced = kNoIndex;
  struct Home {
    std::uint32_t pool = kUnplaced;
    std::uint64_t offset = 0;
    DirectArena::Range range;
  };
  std::uint32_t pool_of(const std::shared_ptr<Buffer>& buffer);

  std::shared_ptr<ExecutorCore> core_;
  ExecutorCore::ArenaLoan arena_;
  std::unique_ptr<Encoder> encoder_;
  Labels labels_;
  StepList steps_;
  HazardTracker tracker_;
  std::vector<Touch> touches_;
  std::vector<Home> homes_;  // by storage of the graph
  std::vector<std::shared_ptr<Buffer>> pools_;
  PointerMap pool_index_;
};

}  // namespace reprise
