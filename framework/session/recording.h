// CapturedGraph::Recording: a planned graph encoded once, with its arena and its slots.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "framework/session/memory.h"
#include "framework/session/slot.h"
#include "framework/session/staged_host_step.h"
#include "framework/session/state_bound.h"
#include "framework/session/watched_launches.h"
#include "reprise/session/captured_graph.h"
#include "reprise/session/graph_session.h"
#include "reprise/session/partial_run.h"
#include "reprise/session/results.h"

namespace reprise {

class CapturedGraph::Recording final : public SlotOwner,
                                       public std::enable_shared_from_this<Recording> {
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
  static std::shared_ptr<Recording> make(std::shared_ptr<ExecutorCore> core, const PassPlan& plan,
                                         const Memory::Sources& sources, const Options& options,
                                         FinishReport& report);
  Recording(std::shared_ptr<ExecutorCore> core, const PassPlan& plan,
            const Memory::Sources& sources, const Options& options, FinishReport& report);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() override;

  void set_input(std::string_view name, DType dtype, std::span<const std::byte> bytes);
  void launch(const LaunchOptions& options);
  /// Empty only if `may_wait` is false and it would have to.
  std::optional<Ticket> launch_async(const LaunchOptions& options, bool may_wait);
  /// A slot for a launch whose inputs the caller writes where they are sent from. Null only if
  /// `may_wait` is false and it would have to. Every slot that is reserved is submitted or given
  /// back.
  Slot* reserve(bool may_wait);
  void give_back(const Slot& slot);
  /// Of an input of the graph.
  std::span<std::byte> input_memory(const Slot& slot, std::size_t input) const;
  /// The slot is given back if this throws.
  Ticket submit_reserved(Slot& slot, AfterSubmit then);
  /// Throws invalid_argument if there was none, or another launch took its slot.
  const Slot& last_launch() const;
  const SubmissionTimes& last_times() const { return last_launch().times(); }
  const StateBlock& state() const { return memory_.state(); }
  std::size_t slots() const { return slots_.size(); }
  std::uint64_t num_replays() const { return replays_.load(std::memory_order_relaxed); }
  /// Slots held by tickets, or by the graph itself for the outputs of its last launch().
  std::size_t held_slots() const;
  /// A slot is held, or its submission is in flight.
  bool in_use();
  std::uint64_t bytes() const;
  bool replays() const { return core_->traits().replays; }
  const ComputeGraph& graph() const { return *plan_->graph; }
  const ExecutionPlan& plan() const { return *plan_; }
  const std::shared_ptr<const ExecutionPlan>& shared_plan() const { return plan_; }
  const Memory& memory() const { return memory_; }
  ExecutorCore& core() const { return *core_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  /// What an input was set to last.
  std::span<const std::byte> input_values(std::size_t i) const { return inputs_[i].bytes; }
  /// Those of the plan that the backend knows something about.
  std::vector<std::pair<Kernel, KernelInfo>> kernels() const;
  std::optional<std::string> stale();
  void rebind(const TensorRef& from, const TensorRef& to);
  std::uint64_t upload();
  /// See CapturedGraph::run_prefix.
  /// A node, alone or after all that run before it.
  PartialRun run_part(std::uint32_t node, bool alone);
  /// All nodes once, as run_part(): what the tapped ones of them computed.
  TappedRun run_tapped(const std::string& pattern);
  /// How often the arena was used so far.
  std::uint64_t runs() const { return runs_; }
  const Device& device() const { return core_->device(); }
  bool is_uploaded() const { return uploaded_ || num_replays() > 0; }
  void set_timing(std::optional<TimingMode> mode) { timing_ = mode; }

  /// Enters this recording, and its first replay if there was one, into the profiling database.
  void profile(std::uint64_t session, const FinishReport& report, std::string key_json);
  /// 0: not in it.
  std::uint64_t profile_id() const { return profile_id_; }
  /// What messages of the driver are about while the thread encodes or submits this.
  DriverWork driver_work() const {
    return {core_->driver_events(), graph(), {.recording = event_id()}};
  }
  void completed(const Slot& slot) override;
  void failed(const Slot& slot, const Error& error) noexcept override;
  std::string_view graph_name() const override { return graph().name; }
  void released() noexcept override;
  /// Waits until a launch would find a slot that no ticket holds; false after `timeout`.
  bool wait_for_slot(std::chrono::nanoseconds timeout);

 private:
  struct Input {
    std::vector<std::byte> bytes;
    std::uint64_t version = 1;  // grows with every set
  };
  struct SlotEntry {
    std::unique_ptr<Slot> slot;
    std::vector<std::uint64_t> versions;       // of the inputs it holds
    std::uint64_t profile_id = 0;              // of the recording it was launched from
    std::unique_ptr<WatchInFlight> watched{};  // if its launch is
    bool reserved = false;                     // the caller fills it
  };
  /// A range of steps of the plan.
  struct Steps {
    std::uint32_t begin, end;
  };
  Steps all_steps() const;
  /// `stamps`: taken in node modes; null: new ones.
  Body encode_steps(Steps range, TimingMode mode, std::span<const std::shared_ptr<Buffer>> pools,
                    std::shared_ptr<Timestamps> stamps = nullptr, TapStaging taps = {}) const;
  Body encode_body(TimingMode mode, std::shared_ptr<Timestamps> stamps = nullptr) const {
    return encode_steps(all_steps(), mode, memory_.buffers(), std::move(stamps));
  }
  const Body& body_for(TimingMode mode, std::uint32_t iterations);
  Body encode_watched(const TapStaging& taps, std::uint32_t iterations) const;
  /// What the next launch is watched by; null, and rarely anything else: nothing.
  std::unique_ptr<WatchInFlight> take_watch(std::uint32_t iterations);
  void find_watched();
  /// What a complete launch brought back, before its replay is sent.
  void profile_watched(SlotEntry& entry) noexcept;
  Exchange exchange(const Port& port) const;
  /// The first idle slot, which is the one most recently in the caches; null only if `may_wait` is
  /// false and it would have to.
  SlotEntry* acquire(bool may_wait);
  Slot* submit(const LaunchOptions& options, bool may_wait, AfterSubmit then);
  /// The inputs are in the slot.
  void start(SlotEntry& entry, const LaunchOptions& options, AfterSubmit then,
             std::int64_t begin_ns);
  SlotEntry& entry_of(const Slot& slot) { return slots_[slot.index()]; }
  std::span<const StagedHostStep> host_steps_in(Steps range) const;
  void run_host_step(const StagedHostStep& step);
  void submit_part(Slot& slot, const SlotLaunch& part);
  /// Runs a body that is no replay, and waits. `after`: sees the slot then.
  void run_once(Steps range, const Body& body, const std::function<void(const Slot&)>& after = {});
  void require_partial() const;
  /// Throws where nothing may run now.
  void begin_run();
  /// The launch of these steps but its last wait: the functions of its host steps run in here.
  void submit_segments(Slot& slot, const SlotLaunch& launch, Steps range);
  /// After a failure: lets the segments behind these host steps, the first of which is number
  /// `first`, run without them.
  void drain(std::span<const StagedHostStep> host_steps, std::size_t first) noexcept;
  void require_not_stale();
  void profile_recording(const FinishReport& report);
  void profile_replays(const Slot& slot) noexcept;
  void profile_replay(const Slot& slot, std::uint32_t iteration, ReplayStatus status) noexcept;
  void report(const Error& error) const noexcept;
  /// For events: they may come before it is entered. 0: there is no database.
  std::uint64_t event_id() const { return profile_id_ != 0 ? profile_id_.load() : first_id_; }

  std::shared_ptr<ExecutorCore> core_;
  std::shared_ptr<const ExecutionPlan> plan_;
  Memory memory_;
  std::vector<Port> outputs_;
  IterationRows rows_;  // those of the memory, with the words of these outputs
  std::vector<StateGrowth> growths_;
  std::string key_json_;
  std::vector<StagedHostStep> host_steps_;
  std::shared_ptr<HostSignal> host_signal_;  // joined host steps only: they raise it
  std::vector<std::uint64_t> segments_;      // joined: submissions before each host step
  bool in_host_step_ = false;
  HostContext* context_;
  std::uint64_t runs_ = 0;
  Body plain_, timed_, serialised_;  // of the node modes, made at first use
  Body once_;                        // without replay: of the last launch
  std::vector<ExtentLimit> limits_;  // buckets, then inputs with extents
  std::vector<Input> inputs_;
  std::vector<SlotEntry> slots_;
  std::mutex release_mutex_;
  std::condition_variable slot_released_;
  Slot* last_launch_ = nullptr;  // held for the graph itself
  std::optional<TimingMode> timing_;
  std::uint64_t watch_version_ = 0;
  WatchedLaunches watched_;
  bool uploaded_ = false;
  std::uint64_t sequence_ = 0;  // launches so far
  std::atomic<std::uint64_t> replays_{0};
  std::uint64_t first_id_ = 0;  // which profile_id_ it gets first
  std::uint64_t profile_session_ = 0;
  std::atomic<std::uint64_t> profile_id_{0};  // read by the threads of tickets
};

}  // namespace reprise
