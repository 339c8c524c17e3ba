// Recording: a plan over a memory, encoded, with slots: the only way to run one.
#pragma once
#include "framework/session/replay/body_encoder.h"
#include "framework/session/replay/inputs.h"
#include "framework/session/replay/launcher.h"
#include "framework/session/replay/replay_reporter.h"
#include "framework/session/replay/slots.h"
#include "framework/session/replay/watched_launches.h"
#include "reprise/session/partial_run.h"

namespace reprise {

/// Threads: one at a time. Lifetime: tickets keep it.
class Recording final : public SlotOwner, public std::enable_shared_from_this<Recording> {
 public:
  static constexpr std::size_t kMaxSlots = 64;
  struct Options {
    std::size_t slots = 2;
    bool joined_host_steps = false;
    /// Which of the graph's outputs launches bring back; empty: all.
    std::optional<std::vector<std::uint32_t>> outputs{};
    HostContext* context = nullptr;  // for the functions of host steps
  };
  /// Allocates and encodes; fills its share of the report. Nothing runs yet.
  /// Errors: invalid_argument for the number of slots; stale.
  static std::shared_ptr<Recording> make(const std::shared_ptr<ExecutorCore>& core,
                                         const PassPlan& plan, const Memory::Sources& sources,
                                         const Options& options, FinishReport& report);
  Recording(std::shared_ptr<ExecutorCore> core, const PassPlan& plan, Memory memory,
            const Options& options);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() override;

  /// A slot for a launch, whose inputs the caller writes. Null only if it may not wait and would
  /// have to. Every slot that is reserved is submitted or given back.
  /// Errors: shut_down, stale, busy; invalid_argument in a host step of its own.
  Slot* reserve(bool may_wait);
  /// What is in the slot runs. It is given back if this throws. `begin_ns`: of preparing it.
  Ticket submit(Slot& slot, const LaunchOptions& options, AfterSubmit then, std::int64_t begin_ns);
  /// All of it, with the values that the inputs were set to. `replaced`: released once the launch
  /// may begin.
  std::optional<Ticket> launch(const LaunchOptions& options, bool may_wait, AfterSubmit then,
                               Ticket& replaced);
  Ticket launch(const LaunchOptions& options);
  /// A node, alone or after all that run before it.
  PartialRun run_part(std::uint32_t node, bool alone);
  /// All nodes once: what the tapped ones of them computed.
  TappedRun run_tapped(const std::string& pattern);
  /// How often the arena was used so far.
  std::uint64_t runs() const { return runs_; }
  std::uint64_t upload();
  bool is_uploaded() const { return uploaded_ || num_replays() > 0; }
  std::optional<std::string> stale();
  void rebind(const TensorRef& from, const TensorRef& to);
  void set_timing(std::optional<TimingMode> mode) { timing_ = mode; }

  Inputs& inputs() { return inputs_; }
  const Inputs& inputs() const { return inputs_; }
  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }
  const Memory& memory() const { return memory_; }
  const HostSteps& host_steps() const { return host_steps_; }
  /// Whether the host may have to serve a launch where it stopped.
  bool may_stop() const { return launcher_.may_stop(); }
  ReplayReporter& reporter() { return reporter_; }
  const ReplayReporter& reporter() const { return reporter_; }
  ExecutorCore& core() const { return *core_; }
  const Device& device() const { return core_->device(); }
  const StateBlock& state() const { return memory_.state(); }
  const ComputeGraph& graph() const { return *plan_->graph; }
  const ExecutionPlan& plan() const { return *plan_; }
  const std::shared_ptr<const ExecutionPlan>& shared_plan() const { return plan_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  bool replays() const { return core_->traits().replays; }
  std::uint64_t num_replays() const { return replays_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const;

  void completed(const Slot& slot) override;
  void failed(const Slot& slot, const Error& error) noexcept override;
  std::string_view graph_name() const override { return graph().name; }
  void released() noexcept override { slots_.released(); }

 private:
  void require_not_stale();
  void require_iterations(std::uint32_t iterations) const;
  void require_one_iteration() const;
  /// Throws where nothing may run now.
  void begin_run();
  void start(Slot& slot, const LaunchOptions& options, AfterSubmit then, std::int64_t begin_ns);
  /// Runs a body that is no replay, and waits. Returns the state after it.
  std::vector<std::uint32_t> run_once(StepRange range, const TapStaging& taps = {});
  void submit_steps(Slot& slot, const SlotLaunch& launch, StepRange range, const TapStaging& taps);

  std::shared_ptr<ExecutorCore> core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  Memory memory_;
  std::vector<Port> outputs_;
  std::vector<StateGrowth> growths_;
  ReplayReporter reporter_;
  HostSteps host_steps_;
  BodyEncoder bodies_;
  Launcher launcher_;
  Inputs inputs_;
  Slots slots_;
  WatchedLaunches watched_;
  std::optional<TimingMode> timing_;
  bool uploaded_ = false;
  std::uint64_t runs_ = 0;
  std::uint64_t sequence_ = 0;  // launches so far
  std::atomic<std::uint64_t> replays_{0};
};

}  // namespace reprise
