// Slot: what host and device exchange in one submission [prologue, body, epilogue]. The body
// belongs to the caller.
#pragma once
#include <array>
#include <atomic>

#include "framework/session/device_clock.h"
#include "framework/session/slot_encodings.h"
#include "reprise/profile/timing_mode.h"
#include "reprise/session/ticket.h"

namespace reprise {

class Slot;

/// Told what becomes of submissions, by the thread that saw it first.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  /// Once per submission that completes.
  virtual void completed(const Slot& slot) = 0;
  /// Told once per submission that waiting for it failed.
  virtual void failed(const Slot& slot, const Error& error) noexcept = 0;
};

/// One encoding of the steps between prologue and epilogue.
struct Body {
  EncodingRef encoding;
  std::shared_ptr<Timestamps> stamps;  // node modes: taken by the body itself
};

/// A slot is used by its owner while idle or released, and by its ticket while held; the phase
/// hands it over between their threads.
class Slot {
 public:
  enum class Phase : std::uint8_t {
    idle,
    held,     // by a ticket: in flight or complete
    released  // no ticket any more, but perhaps still in flight
  };
  /// Grows `staging` as needed. `index`: which one of its owner's.
  Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
       std::vector<Exchange> outputs, Staging& staging, SlotOwner& owner, std::uint32_t index = 0);
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  const std::vector<Exchange>& inputs() const { return inputs_; }
  std::byte* input_bytes(const Exchange& input) const {
    return staging_.upload->mapped() + input.staging_offset;
  }
  const std::vector<Exchange>& outputs() const { return outputs_; }
  OutputView output(const Exchange& output) const {
    return {output.spec,
            {staging_.download->mapped() + output.staging_offset, output.spec.bytes()}};
  }
  /// Throws invalid_argument for unknown names, listing those there are.
  OutputView output(std::string_view name) const;
  std::int32_t state(std::string_view field) const;

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  /// Submits for a ticket. `begin_ns`: when preparing began. The slot must be idle; it stays so if
  /// this throws.
  void submit(const Body& body, TimingMode mode, std::uint64_t sequence, std::int64_t begin_ns,
              Follow follow);
  bool done();
  void wait();
  /// The ticket lets go.
  void release() noexcept;
  /// Waits for what a released slot still has in flight, then it is idle.
  void reclaim();

  std::uint32_t index() const { return index_; }
  std::uint64_t sequence() const { return sequence_; }
  TimingMode timing_mode() const { return mode_; }
  const SubmissionTimes& times() const { return times_; }
  /// The state block after the submission; empty without state.
  const std::vector<std::uint32_t>& state_words() const { return state_words_; }
  /// Node modes only: see ReplayRecord.
  std::span<const std::uint64_t> step_ticks() const;

 private:
  static constexpr std::size_t kModes = 4;
  const SlotEnds& ends_for(const Body& body, TimingMode mode);
  void complete();
  /// Calls f; a failure reaches the owner too.
  template <class F>
  auto telling_failures(F&& f);
  void write_state();
  void restore_patches();
  void read_state();
  std::uint64_t patch_offset() const;
  std::span<const std::uint64_t> ticks() const;

  Device device_;
  StateBlock state_;
  std::vector<Exchange> inputs_, outputs_;
  Staging staging_;
  SlotOwner& owner_;
  std::uint32_t index_;
  DeviceClock clock_;
  std::uint64_t state_offset_ = 0, ticks_offset_ = 0;  // in the download buffer
  std::shared_ptr<Buffer> step_ticks_;                 // node modes
  std::array<SlotEnds, kModes> ends_;
  std::vector<std::uint32_t> state_words_;

  std::atomic<Phase> phase_{Phase::idle};
  bool complete_ = true;  // and its owner was told
  bool failed_ = false;   // and its owner was told
  TimingMode mode_ = TimingMode::off;
  std::uint64_t sequence_ = 0;
  std::uint32_t sent_patches_ = 0;
  SubmissionTimes times_;
};

/// The element of `list` with that name; throws invalid_argument that lists all of them as `kind`s.
const Exchange& find_exchange(const std::vector<Exchange>& list, std::string_view kind,
                              std::string_view name);

}  // namespace reprise
