// Ticket: the receipt of a submission. It owns the submission's outputs until it is released.
#pragma once
#include <bit>
#include <concepts>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/core/tensor.h"

namespace reprise {

class Backend;
class Slot;

/// A type that elements of a tensor can be read as. std::byte reads the bytes of any dtype.
template <class T>
concept OutputElement =
    std::same_as<T, float> || std::same_as<T, std::int32_t> || std::same_as<T, std::byte>;

/// Checks that the tensor of that name has elements of this dtype.
/// Errors: dtype_mismatch.
void require_elements(std::string_view name, const TensorSpec& spec, DType dtype);
template <OutputElement T>
void require_elements(std::string_view name, const TensorSpec& spec) {
  if constexpr (HostElement<T>) {
    require_elements(name, spec, kDTypeOf<T>);
  }
}

/// An output in the memory of its slot.
struct OutputView {
  TensorSpec spec;  // contiguous
  std::span<const std::byte> bytes;
};

template <OutputElement T>
std::vector<T> elements_of(std::string_view name, const OutputView& output) {
  require_elements<T>(name, output.spec);
  std::vector<T> values(output.bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(static_cast<void*>(values.data()), output.bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

/// Where the time of one submission went.
/// Units: nanoseconds.
struct SubmissionTimes {
  std::uint64_t submission = 0;     // number of the submission on its device
  std::int64_t submit_time_ns = 0;  // CLOCK_MONOTONIC, when it was handed to the device
  std::uint64_t prepare_ns = 0;     // filling the slot
  std::uint64_t submit_ns = 0;      // the submit call
  std::uint64_t wait_ns = 0;        // waiting; 0 if it was complete before
  std::uint64_t host_step_ns = 0;   // in the functions of host steps
  std::uint32_t submits = 1;        // one, and one for every host step
  std::optional<std::int64_t> device_start_ns{};  // on the device's clock
  std::optional<std::uint64_t> device_ns{};  // empty: timing was off, or the device has no clock
};

/// The receipt of a submission, move-only. Destroying it releases it.
/// Errors: released from every member of an empty ticket (released, moved from, never given a
/// submission).
/// Threads: used by one thread at a time; may be handed to another one.
class Ticket {
 public:
  Ticket() = default;
  /// Takes over a slot that is held for it; for sessions and graphs.
  explicit Ticket(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}
  /// Makes the ticket of a submission without outputs, state and times.
  /// Errors: invalid_argument when it is asked for one of these.
  Ticket(std::shared_ptr<Backend> backend, std::uint64_t submission)
      : backend_(std::move(backend)), submission_(submission) {}
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&& other) noexcept;
  ~Ticket() { release(); }
  explicit operator bool() const { return slot_ != nullptr || backend_ != nullptr; }

  /// Returns whether the device has completed the submission; never blocks.
  /// Errors: device_lost.
  bool done() const;
  /// Waits for the submission, but never for ever. On the CPU it lasts as long as the work.
  /// Errors: device_lost, timeout.
  void wait() const;
  /// Waits, then returns an output. All members below wait first, except output_names() and
  /// release().
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name) const {
    return elements_of<T>(name, output(name));
  }
  template <OutputElement T = float>
  std::vector<T> read(std::string_view name, std::uint32_t iteration) const {
    return elements_of<T>(name, output(name, iteration));
  }
  /// Returns an output in place. A launch of several iterations has that of the last one that ran,
  /// or of an earlier one.
  /// Errors: unknown_name; invalid_argument if none or too few ran, and for outputs of which only
  /// the last iteration's are kept (see kRowOutputBytes).
  /// Lifetime: valid until the ticket is released.
  OutputView output(std::string_view name) const;
  OutputView output(std::string_view name, std::uint32_t iteration) const;
  /// Returns the names of all outputs, in order of declaration.
  std::vector<std::string> output_names() const;
  /// Returns a state field after this submission, or after an iteration of it that ran.
  /// Errors: unknown_name, dtype_mismatch; invalid_argument if the iteration did not run.
  template <StateElement T = std::int32_t>
  T state(std::string_view field) const {
    return std::bit_cast<T>(state_bits(field, kDTypeOf<T>));
  }
  template <StateElement T = std::int32_t>
  T state(std::string_view field, std::uint32_t iteration) const {
    return std::bit_cast<T>(state_bits(field, kDTypeOf<T>, iteration));
  }
  /// Returns how many iterations ran; 1 for graphs that run once per launch.
  std::uint32_t iterations() const;
  /// Returns false for a run of no rows, or after the state said stop: there are no outputs then.
  bool ran() const { return iterations() > 0; }
  const SubmissionTimes& times() const;

  /// Gives the slot back, whether or not the submission is complete. The outputs are gone.
  void release() noexcept;

 private:
  Slot& slot() const;
  const Slot& completed() const;
  std::uint32_t state_bits(std::string_view field, DType dtype,
                           std::optional<std::uint32_t> iteration = {}) const;
  std::shared_ptr<Slot> slot_;
  std::shared_ptr<Backend> backend_;
  std::uint64_t submission_ = 0;  // of backend_
};

}  // namespace reprise
