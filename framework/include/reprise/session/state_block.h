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

/// What a field or an array is set to: {"pos", 3}, {"tokens", tokens}. Elements are not copied: it
/// lives no longer than the statement that sets it.
struct StateValue {
  /// Any integer for an i32 field, any floating-point number for an f32 field.
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

/// A cheap value; copies share the block. An empty one (default constructed) means "no state".
/// set() and get() may be called from any thread; use a block on one device only.
class StateBlock {
 public:
  StateBlock() = default;
  /// Fields start at their initial values.
  StateBlock(const Device& device, StateLayout layout);
  explicit operator bool() const { return memory_ != nullptr; }
  /// Whether they share their memory.
  bool operator==(const StateBlock& other) const { return memory_ == other.memory_; }
  /// For recordings: the memory of the block; none if it is empty.
  std::vector<std::shared_ptr<Buffer>> buffers() const;
  const StateLayout& layout() const;

  /// Takes effect with the next launch or finish. What the host owns keeps its value until set
  /// again; what is carried is patched once, then the device goes on from there.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch; invalid_argument for a derived field and
  /// for values out of range or not finite.
  template <StateValueOf V>
  void set(std::string_view name, const V& value) const {
    set({{name, value}});
  }
  /// All of them or, if one is refused, none: no submission sees a part.
  void set(std::initializer_list<StateValue> values) const;
  /// Returns the value after the last completed launch or finish; before the first, the initial
  /// one. Errors: unknown_name, dtype_mismatch.
  template <StateElement T = std::int32_t>
  T get(std::string_view field) const;
  /// The same of an array.
  template <StateElement T = std::int32_t>
  std::vector<T> values(std::string_view array) const;
  /// A field as an attribute of an op. Throws invalid_argument if the session has another block.
  StateField field(Recorder& session, std::string_view field) const;

  /// For this layer; users never see the whole type.
  StateMemory& inner() const { return *memory_; }
  /// The same for a field or an array of that name.
  /// Errors: unknown_name if the block is empty.
  StateMemory& require(std::string_view kind, std::string_view name) const;

 private:
  std::shared_ptr<StateMemory> memory_;
};

}  // namespace reprise
