// DirectRun: encodes the nodes of a direct session as they are recorded, with the same lowering and
// hazard tracking as a plan. Nothing is submitted before finish().
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/graph/hazards.h"
#include "framework/session/executor/executor_core.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/replay/labels.h"
#include "framework/session/replay/slot_exchange.h"
#include "framework/session/replay/staged_host_step.h"

namespace reprise {

class DirectRun {
 public:
  /// `session`: its id in the profiling database; 0: it has none.
  DirectRun(std::shared_ptr<ExecutorCore> core, std::string_view name, const GraphSizes& expected,
            std::uint64_t session);
  DirectRun(const DirectRun&) = delete;
  DirectRun& operator=(const DirectRun&) = delete;
  ~DirectRun();

  /// Steps of these extents run over as many rows as the fields of the host have now; with none,
  /// only the plan runs.
  void set_extents(std::span<const GraphExtent> extents, std::span<const std::uint32_t> host);
  /// The fields of the host that its ops run with; none without extents.
  std::span<const std::uint32_t> host_words() const { return host_words_; }
  bool is_empty() const { return empty_; }
  /// Gives a storage its memory, once. Inputs get memory that no earlier step used: their values
  /// are copied before the first step runs.
  void place(const GraphCapture& capture, std::uint32_t storage);
  /// Encodes the newest node of the graph; of a host step what it reads, and then comes a cut().
  void encode_node(GraphCapture& capture);
  /// After that cut, when its part is complete: runs the function and encodes what it wrote.
  void run_host_step();
  /// Where a tensor lives.
  Exchange exchange(const GraphCapture& capture, std::string name, std::uint32_t tensor);
  /// What was encoded since the last cut; what follows goes into another encoding.
  std::unique_ptr<Encoding> cut();
  std::unique_ptr<Encoding> finish();
  DirectArena& arena() { return *arena_; }

  /// Whether timestamps are taken behind steps, and how: a node mode, else off.
  TimingMode step_times() const { return step_times_; }
  /// After finish(), once: what was encoded, as a plan of that graph, which moves into it; with the
  /// buffers of its pools, null where the arena is several.
  std::pair<std::shared_ptr<const ExecutionPlan>, std::vector<std::shared_ptr<Buffer>>> take_plan(
      GraphCapture& capture, const DirectArena& arena);
  /// After finish(): the memory goes with the submission.
  ExecutorCore::ArenaLoan take_arena() { return std::move(arena_); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(steps_.size()); }
  std::uint32_t barriers() const { return barriers_; }

  /// What messages of the driver are about while the thread encodes or submits this.
  DriverWork driver_work(const ComputeGraph& graph) const {
    return {core_->driver_events(), graph, {.session = session_}};
  }

 private:
  static constexpr std::uint32_t kUnplaced = kNoIndex;
  struct Home {
    std::uint32_t pool = kUnplaced;
    std::uint64_t offset = 0;
    DirectArena::Range range;
  };
  std::uint32_t pool_of(const std::shared_ptr<Buffer>& buffer);
  void take_stamp();
  std::unique_ptr<Encoder> open_encoder() const;

  std::shared_ptr<ExecutorCore> core_;
  ExecutorCore::ArenaLoan arena_;
  std::string name_;
  std::uint64_t session_;
  TimingMode step_times_ = TimingMode::off;
  std::unique_ptr<Encoder> encoder_;
  std::optional<Labels> labels_;
  std::optional<StagedHostStep> host_step_;  // the newest one
  StepList steps_;
  HazardTracker tracker_;
  std::vector<std::uint32_t> host_words_;  // empty: no extents
  bool empty_ = false;                     // an extent has no rows
  std::uint32_t barriers_ = 0;
  std::vector<Touch> touches_;
  std::vector<Home> homes_;  // by storage of the graph
  std::vector<std::shared_ptr<Buffer>> pools_;
  PointerMap pool_index_;
};

}  // namespace reprise
