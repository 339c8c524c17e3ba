// CapturedGraph::Recording: a planned graph encoded once, with its arena and its slots.
#pragma once
#include "framework/session/executor_core.h"
#include "framework/session/slot.h"
#include "reprise/session/captured_graph.h"
#include "reprise/session/results.h"

namespace reprise {

class CapturedGraph::Recording final : public SlotOwner,
                                       public std::enable_shared_from_this<Recording> {
 public:
  static constexpr std::size_t kMaxSlots = 64;
  struct Port {
    std::string name;
    std::uint32_t tensor;
  };
  /// Allocates and encodes; fills the plan's share of the report. Nothing runs yet.
  Recording(std::shared_ptr<ExecutorCore> core, std::shared_ptr<const RecordedGraph> recorded,
            StateBlock state, const std::vector<Port>& inputs, const std::vector<Port>& outputs,
            std::size_t slots, FinishReport& report);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() override;

  void set_input(std::string_view name, DType dtype, std::span<const std::byte> bytes);
  void launch();
  /// Empty only if `may_wait` is false and it would have to.
  std::optional<Ticket> launch_async(bool may_wait);
  OutputView output(std::string_view name) const;
  const SubmissionTimes& last_times() const { return last_launch().times(); }
  const StateBlock& state() const { return state_; }
  std::size_t slots() const { return slots_.size(); }
  std::uint64_t num_replays() const { return replays_.load(std::memory_order_relaxed); }
  const RecordedGraph& recorded() const { return *recorded_; }
  std::uint64_t upload();
  bool is_uploaded() const { return uploaded_ || num_replays() > 0; }
  void set_timing(std::optional<TimingMode> mode) { timing_ = mode; }

  /// Enters this recording, and its first replay if there was one, into the profiling database.
  void profile(std::uint64_t session, const FinishReport& report);
  void completed(const Slot& slot) override;
  void failed(const Slot& slot, const Error& error) noexcept override;

 private:
  struct Input {
    std::vector<std::byte> bytes;
    std::uint64_t version = 1;  // grows with every set
  };
  struct SlotEntry {
    std::unique_ptr<Slot> slot;
    std::vector<std::uint64_t> versions;  // of the inputs it holds
  };
  Body encode_body(TimingMode mode) const;
  const Body& body_for(TimingMode mode);
  Exchange exchange(const Port& port) const;
  /// The first idle slot, which is the one most recently in the caches; null only if `may_wait` is
  /// false and it would have to.
  SlotEntry* acquire(bool may_wait);
  Slot* submit(bool may_wait, Follow follow);
  const Slot& last_launch() const;
  static constexpr std::uint32_t kRan = 0, kFailed = 1;  // replays.status
  void profile_replay(const Slot& slot, std::uint32_t status) noexcept;
  void report(const Error& error) const noexcept;

  std::shared_ptr<ExecutorCore> core_;
  std::shared_ptr<const RecordedGraph> recorded_;
  StateBlock state_;
  std::vector<std::shared_ptr<Buffer>> pools_;
  Body plain_, timed_, serialised_;  // of the node modes, made at first use
  std::vector<Input> inputs_;
  std::vector<SlotEntry> slots_;
  Slot* last_launch_ = nullptr;  // held for the graph itself
  std::optional<TimingMode> timing_;
  bool uploaded_ = false;
  std::uint64_t sequence_ = 0;  // launches so far
  std::atomic<std::uint64_t> replays_{0};
  std::uint64_t profile_id_ = 0;
};

}  // namespace reprise
