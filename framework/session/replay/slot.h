// Slot: what host and device exchange in one submission [prologue, body x iterations, epilogue].
// The body belongs to the caller.
#pragma once
#include <atomic>

#include "framework/session/executor/device_clock.h"
#include "framework/session/replay/slot_exchange.h"
#include "reprise/session/ticket.h"

namespace reprise {

class Slot;

/// Told what becomes of submissions, by the thread that saw it first.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  /// Once per submission that completes.
  virtual void completed(const Slot& /*slot*/) {}
  /// Told once per submission that waiting for it failed.
  virtual void failed(const Slot& /*slot*/, const Error& /*error*/) noexcept {}
  virtual std::string_view graph_name() const = 0;
  /// A ticket let go of one.
  virtual void released() noexcept {}
};

/// When the device ran an iteration; empty: it did not say.
struct DeviceTime {
  std::optional<std::int64_t> start_ns;  // on the device's clock
  std::optional<std::uint64_t> duration_ns;
};

/// A slot is used by its owner until it is held and after that, and by its ticket while held; the
/// phase hands it over between their threads.
class Slot {
 public:
  enum class Phase : std::uint8_t {
    idle,
    reserved,  // for a submission that is being prepared
    held,      // by a ticket: in flight or complete
    released   // no ticket any more, but perhaps still in flight
  };
  /// Grows `staging` as needed. `index`: which one of its owner's.
  Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
       std::vector<Exchange> outputs, const IterationRows& rows, Staging& staging, SlotOwner& owner,
       std::uint32_t index = 0);
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  const SlotExchange& exchange() const { return exchange_; }
  SlotExchange& exchange() { return exchange_; }
  /// Of an output with an extent, as many rows as the launch had. Of one iteration, or after all.
  /// Errors: unknown_name, listing the outputs; invalid_argument if nothing ran, or if the
  /// iteration did not run or left none.
  OutputView output(std::string_view name, std::optional<std::uint32_t> iteration = {}) const;
  std::uint32_t state(std::string_view field, DType dtype,
                      std::optional<std::uint32_t> iteration) const;

  /// `cause` with the graph and, as far as there are, the replay and the submission.
  Error placed(const Error& cause, std::optional<std::uint64_t> replay,
               std::optional<std::uint64_t> submission = {}) const;

  Phase phase() const { return phase_; }
  /// Reserved or held.
  bool in_hands() const;
  /// Waits for what it still has in flight.
  void reserve();
  /// Nothing was submitted.
  void give_back() noexcept { phase_.store(Phase::idle, std::memory_order_release); }
  std::string_view graph_name() const { return owner_.graph_name(); }
  /// Encodes what such a launch runs beside its body, unless the slot is in hands.
  void prepare(const SlotLaunch& launch);
  /// Submits all of a launch or a part of it. The slot must not be held; it keeps its phase. Throws
  /// invalid_argument if a state field would leave its range, after waiting for what is in flight,
  /// and extent_out_of_range.
  void submit(const SlotLaunch& launch);
  /// After all parts of a launch: the ticket gets it, with the times of that mode.
  void hold(const SlotLaunch& launch, TimingMode mode);
  /// The state block as the last submission that is complete and brought it back left it.
  std::span<const std::uint32_t> state_now() const;
  /// After the last part of several: the times of all of them.
  void add_parts(const SubmissionTimes& all);
  bool done();
  void wait();
  /// The ticket lets go.
  void release() noexcept;
  /// Waits for what a released slot, or a launch that failed half way, still has in flight; then it
  /// is idle.
  void reclaim();

  std::uint32_t index() const { return index_; }
  std::uint64_t sequence() const { return sequence_.value_or(0); }
  TimingMode timing_mode() const { return mode_; }
  const SubmissionTimes& times() const { return times_; }
  std::uint32_t iterations() const { return iterations_; }
  /// How many of them ran: the first ones.
  std::uint32_t ran() const { return ran_; }
  /// The state block after an iteration that ran; empty without state.
  std::span<const std::uint32_t> state_words(std::uint32_t iteration) const;
  DeviceTime device_time(std::uint32_t iteration) const;
  /// Node modes only: see ReplayRecord.
  std::span<const std::uint64_t> step_ticks(std::uint32_t iteration) const;

 private:
  void require_ran(std::uint32_t iteration) const;
  void complete();
  /// Calls f; a failure reaches the owner too.
  template <class F>
  auto reporting_failures(F&& f);

  Device device_;
  StateExchange state_;
  SlotExchange exchange_;
  SlotOwner& owner_;
  std::uint32_t index_;
  DeviceClock clock_;

  std::atomic<Phase> phase_{Phase::idle};
  std::uint64_t unfinished_ = 0;  // of a launch that failed half way, perhaps in flight; 0: none
  bool complete_ = true;          // and its owner was told
  bool failed_ = false;           // and its owner was told
  TimingMode mode_ = TimingMode::off;
  std::optional<std::uint64_t> sequence_{};
  std::uint32_t iterations_ = 1, ran_ = 0;
  bool nothing_runs_ = false;
  SubmissionTimes times_;
};

}  // namespace reprise
