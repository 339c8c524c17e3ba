// Slot: what host and device exchange in one submission [prologue, body x iterations, epilogue].
// The body belongs to the caller.
#pragma once
#include <array>
#include <atomic>
#include <map>

#include "framework/session/executor/device_clock.h"
#include "framework/session/replay/slot_encodings.h"
#include "framework/session/state/iteration_rows.h"
#include "framework/session/state/state_exchange.h"
#include "reprise/profile/timing_mode.h"
#include "reprise/session/ticket.h"

namespace reprise {

class Slot;
struct ExtentLimit;

/// Told what becomes of submissions, by the thread that saw it first.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  /// Once per submission that completes.
  virtual void completed(const Slot& slot) = 0;
  /// Told once per submission that waiting for it failed.
  virtual void failed(const Slot& slot, const Error& error) noexcept = 0;
  virtual std::string_view graph_name() const = 0;
  /// A ticket let go of one.
  virtual void released() noexcept {}
};

/// One encoding of the steps between prologue and epilogue.
struct Body {
  EncodingRef encoding;
  std::shared_ptr<Timestamps> stamps;   // node modes: taken by the body itself
  std::vector<EncodingRef> next{};      // without replay: those of the iterations after the first
  std::vector<EncodingRef> segments{};  // what follows the first host step, the second one, ...
};

/// Host steps cut a submission into parts, and direct sessions may be split: the first one sends
/// state and inputs, the last one brings outputs and state back.
enum class SlotPart : std::uint8_t { whole, first, middle, last };

/// What a submission does.
struct SlotLaunch {
  const Body& body;
  std::span<const StateGrowth> growths{};  // of the body, or of what this part runs of it
  TimingMode mode = TimingMode::off;
  std::uint32_t iterations = 1;
  std::optional<std::uint64_t> sequence{};  // launches of the graph before this one
  std::int64_t begin_ns = 0;                // when preparing began
  AfterSubmit then = AfterSubmit::will_wait;
  SlotPart part = SlotPart::whole;
  std::span<const ExtentLimit> limits{};  // of the state that is sent
  bool nothing_runs = false;              // of a direct session without rows
  bool keeps_patches = false;  // the body does not apply patches: they go with the next launch too
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

  const std::vector<Exchange>& inputs() const { return inputs_; }
  std::byte* input_bytes(const Exchange& input) const {
    return staging_.upload->mapped() + input.staging_offset;
  }
  const std::vector<Exchange>& outputs() const { return outputs_; }
  /// Of an output with an extent, as many rows as the launch had.
  OutputView output(const Exchange& output) const;
  /// Errors: unknown_name, listing the outputs; invalid_argument if nothing ran.
  OutputView output(std::string_view name) const;
  std::uint32_t state(std::string_view field, DType dtype) const;
  /// The same of one iteration. Throw invalid_argument if it did not run or left none.
  OutputView output(std::string_view name, std::uint32_t iteration) const;
  std::uint32_t state(std::string_view field, DType dtype, std::uint32_t iteration) const;

  /// Later submissions exchange with `to` what they did with `from`; those in flight go on.
  void rebind(const Buffer& from, const std::shared_ptr<Buffer>& to);

  /// `cause` with the graph and, as far as there are, the replay and the submission.
  Error placed(const Error& cause, std::optional<std::uint64_t> replay,
               std::optional<std::uint64_t> submission = {}) const;

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  /// Reserved or held.
  bool in_hands() const;
  /// Waits for what it still has in flight.
  void reserve();
  /// Nothing was submitted.
  void give_back() noexcept { phase_.store(Phase::idle, std::memory_order_release); }
  std::string_view graph_name() const { return owner_.graph_name(); }
  /// Before anything was brought back to the host: grows `staging` as needed.
  void set_outputs(std::vector<Exchange> outputs, Staging& staging);
  /// Submits for a ticket, once all parts are submitted. The slot must not be held; it keeps its
  /// phase if this throws. Throws invalid_argument if a state field would leave its range, after
  /// waiting for what is in flight, and extent_out_of_range.
  void submit(const SlotLaunch& launch);
  /// After the last part of several: what came before it.
  void add_parts(const SubmissionTimes& before);
  /// A launch that was submitted failed: nobody gets what it leaves.
  void abandon() noexcept;
  bool done();
  void wait();
  /// The ticket lets go.
  void release() noexcept;
  /// Waits for what a released slot, or a launch that failed half way, still has in flight; then it
  /// is idle.
  void reclaim();

  /// Of the memory it has for itself.
  std::uint64_t bytes() const;
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
  static constexpr std::size_t kModes = 4;
  /// Fills list_ with what a submission runs; encodes what it runs for the first time.
  void list_encodings(const SlotLaunch& launch);
  EncodingRef encode_prologue_of(TimingMode mode) const;
  EncodingRef encode_epilogue_of(const SlotLaunch& launch);
  /// After a body, before the next one or the epilogue; null: nothing.
  EncodingRef after_body(const SlotLaunch& launch, std::uint32_t iteration);
  ResolvedStamps step_stamps(const Body& body, std::uint32_t iteration);
  void require_ran(std::uint32_t iteration) const;
  void complete();
  /// Calls f; a failure reaches the owner too.
  template <class F>
  auto reporting_failures(F&& f);
  /// Of an iteration: its start and end, or those of its steps.
  std::span<const std::uint64_t> ticks(std::uint32_t iteration) const;

  Device device_;
  StateExchange state_;
  std::vector<Exchange> inputs_, outputs_;
  Staging staging_;
  SlotOwner& owner_;
  std::uint32_t index_;
  DeviceClock clock_;
  IterationRows rows_;
  std::uint64_t zero_offset_ = 0;  // in the upload buffer: the word that starts a count of rows
  // In the download buffer:
  std::uint64_t count_offset_ = 0, rows_offset_ = 0, ticks_offset_ = 0;
  std::shared_ptr<Buffer> step_ticks_;  // node modes: of every iteration
  std::uint32_t step_stamps_ = 0;       // of one iteration
  std::array<EncodingRef, kModes> prologues_;
  std::array<std::vector<EncodingRef>, kModes> between_;  // by iteration
  std::map<std::pair<TimingMode, std::uint32_t>, EncodingRef> epilogues_;
  std::vector<EncodingRef> list_;  // of a submission: no allocation per launch

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

/// The element of `list` with that name; throws unknown_name that lists all of them as `kind`s.
const Exchange& find_exchange(const std::vector<Exchange>& list, std::string_view graph,
                              std::string_view kind, std::string_view name);

}  // namespace reprise
