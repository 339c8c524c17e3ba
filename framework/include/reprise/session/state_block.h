// StateBlock: the device memory behind a StateLayout. Sessions and graphs that share one continue
// each other's work: a prefill leaves the position where decoding starts.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reprise/graph/state_layout.h"
#include "reprise/session/device.h"

namespace reprise {

class Recorder;
class StateMemory;

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// The new value of a field or an array: {"pos", 3}, {"tokens", tokens}.
/// Lifetime: elements are not copied; use it only in the statement that makes it.
struct StateValue {
  /// Takes any integer for an i32 field, any floating-point number for an f32 field.
  template <Number T>
  StateValue(std::string_view field, T value) : name(field) {
    if constexpr (std::is_integral_v<T>) {
      bits = static_cast<std::uint32_t>(value);
      if (!std::in_range<std::int32_t>(+value)) {
        misfit = std::to_string(+value);
      }
    } else {
      set_real(static_cast<double>(value));
    }
  }
  StateValue(std::string_view array, std::span<const std::int32_t> values)
      : name(array), dtype(DType::i32), is_array(true), elements(std::as_bytes(values)) {}
  StateValue(std::string_view array, std::span<const float> values)
      : name(array), dtype(DType::f32), is_array(true), elements(std::as_bytes(values)) {}

  std::string text() const;

  std::string_view name;
  DType dtype = DType::i32;
  bool is_array = false;
  std::string misfit;  // a value that no field can have
  std::uint32_t bits = 0;
  std::span<const std::byte> elements;

 private:
  void set_real(double value);
};

/// A number for a field, or elements for an array.
template <class V>
concept StateValueOf = std::constructible_from<StateValue, std::string_view, const V&>;

/// The values of a StateLayout in device memory. Use a block on one device only.
/// Lifetime: copies share the block; copying is cheap. A default constructed one is empty: "no
/// state".
/// Threads: set() and get() may be called from any thread.
class StateBlock {
 public:
  StateBlock() = default;
  /// Allocates the block; fields start at their initial values.
  StateBlock(const Device& device, StateLayout layout);
  explicit operator bool() const { return memory_ != nullptr; }
  /// Returns whether both share their memory.
  bool operator==(const StateBlock& other) const { return memory_ == other.memory_; }
  /// Returns the memory of the block, for recordings; nothing if it is empty.
  std::vector<std::shared_ptr<Buffer>> buffers() const;
  /// Returns the layout.
  /// Errors: invalid_argument if the block is empty.
  const StateLayout& layout() const;

  /// Sets a field or an array; takes effect with the next launch or finish. A host field keeps its
  /// value until set again. A carried field is patched once, then the device goes on from there.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch; invalid_argument for a derived field and
  /// for values out of range or not finite.
  template <StateValueOf V>
  void set(std::string_view name, const V& value) const {
    set({{name, value}});
  }
  /// Sets all of them or, after an error, none: no submission sees a part.
  void set(std::initializer_list<StateValue> values) const;
  /// Returns the value after the last completed launch or finish; before the first, the initial
  /// one.
  /// Errors: unknown_name, dtype_mismatch.
  template <StateElement T = std::int32_t>
  T get(std::string_view field) const;
  /// Returns the values of an array, likewise.
  template <StateElement T = std::int32_t>
  std::vector<T> values(std::string_view array) const;
  /// Returns a field as an attribute of an op.
  /// Errors: invalid_argument if the session has a different block.
  StateField field(Recorder& session, std::string_view field) const;

  /// For this layer only; the type is incomplete for users.
  StateMemory& inner() const { return *memory_; }
  /// Returns the same for a field or an array of that name.
  /// Errors: unknown_name if the block is empty.
  StateMemory& require(std::string_view kind, std::string_view name) const;

 private:
  std::shared_ptr<StateMemory> memory_;
};

/// One field of a state block. Launches in flight keep the value they were submitted with.
///   DeviceScalar<float> eps(device, "eps", 1e-5F);
///   auto s = executor.begin_recorded({.state = eps.state()});
///   rms_norm(s, x, weight, {.eps = eps.in(s)});
/// Threads: as a StateBlock.
template <StateElement T>
class DeviceScalar {
 public:
  /// Takes a field of a block that has others too.
  /// Errors: unknown_name, dtype_mismatch.
  DeviceScalar(StateBlock block, std::string_view field) : state_(std::move(block)), field_(field) {
    (void)state_.get<T>(field_);
  }
  /// Makes a block with this field alone, owned by the host.
  DeviceScalar(const Device& device, std::string name, T initial = {})
      : state_(device, alone(name, initial)), field_(std::move(name)) {}

  /// See StateBlock::set.
  template <Number N>
  void set(N value) const {
    state_.set(field_, value);
  }
  T get() const { return state_.get<T>(field_); }
  const StateBlock& state() const { return state_; }

  /// Returns the field as an attribute of an op.
  /// Errors: invalid_argument if the session has a different state block.
  StateField in(Recorder& session) const { return state_.field(session, field_); }

 private:
  static StateLayout alone(const std::string& name, T initial) {
    if constexpr (std::same_as<T, float>) {
      return StateLayout().host_f32(name, initial);
    } else {
      return StateLayout().host(name, initial);
    }
  }
  StateBlock state_;
  std::string field_;
};

}  // namespace reprise
