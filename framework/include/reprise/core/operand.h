// Descriptions of the tensors and numbers of ops and kernels.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "reprise/core/error.h"
#include "reprise/core/tensor.h"

namespace reprise {

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };
constexpr bool reads(Access a) { return (static_cast<unsigned>(a) & 1U) != 0; }
constexpr bool writes(Access a) { return (static_cast<unsigned>(a) & 2U) != 0; }

/// A scalar of the session's state block, returned by Recorder::state. `word` is its place in the
/// block, 4 bytes each.
/// Lifetime: for sessions with a state of this layout only; elsewhere its place has another field.
struct StateField {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t word = kNone;
  DType dtype = DType::i32;
  std::string name{};  // for messages
};

/// Checks that the field is set and of that type.
/// Errors: invalid_argument if it is not.
void require_field(const StateField& field, DType wanted, SourceLocation where);
/// Reports that `value` does not fit an i32 attribute.
/// Errors: invalid_argument, always.
[[noreturn]] void refuse_constant(const std::string& value, SourceLocation where);

/// Returns the number, or the bucket.
/// Errors: invalid_argument above 2^31 - 1.
std::int32_t to_i32(const Extent& extent);

/// An attribute that is a constant or lives in the state block. It is a pair of push-constant
/// words, {value, word}: shaders read it through shaders/include/state.glsl. A plain `float`
/// attribute refuses a StateField at compile time.
template <class T>
struct Param {
  static_assert(sizeof(T) == 4);
  Param() = default;
  Param(float constant)  // NOLINT(google-explicit-constructor)
      requires std::is_same_v<T, float> : value(constant) {}
  /// Takes a constant. A fraction for an integer does not compile.
  /// Errors: invalid_argument for a constant that the attribute cannot hold.
  template <std::integral I>
  requires std::is_same_v<T, std::int32_t> Param(I constant,  // NOLINT(google-explicit-constructor)
                                                 SourceLocation where = SourceLocation::here())
      : value(static_cast<T>(constant)) {
    if (!std::in_range<T>(+constant)) {
      refuse_constant(std::to_string(+constant), where);
    }
  }
  /// Takes a field of the state.
  /// Errors: invalid_argument for an unset one and for a different type.
  Param(const StateField& field,  // NOLINT(google-explicit-constructor)
        SourceLocation where = SourceLocation::here())
      : word(field.word) {
    require_field(field, std::is_same_v<T, float> ? DType::f32 : DType::i32, where);
  }
  /// Takes the number of rows of a tensor x, x.shape().extent(0), fixed or not.
  /// Errors: invalid_argument above 2^31 - 1.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Param(const Extent& extent) requires std::is_same_v<T, std::int32_t> : value(to_i32(extent)),
                                                                         word(extent.word) {}
  bool dynamic() const { return word != StateField::kNone; }
  T value{};
  std::uint32_t word = StateField::kNone;
};

using DTypeSet = std::uint32_t;
constexpr DTypeSet accepts(std::initializer_list<DType> types) {
  DTypeSet set = 0;
  for (const DType t : types) {
    set |= 1U << static_cast<unsigned>(t);
  }
  return set;
}
constexpr bool holds(DTypeSet set, DType type) { return (set & accepts({type})) != 0; }

enum class AttributeType : std::uint8_t { f32, i32, boolean, param_i32, param_f32 };
/// Returns whether the attribute is a Param.
constexpr bool is_param(AttributeType type) { return type >= AttributeType::param_i32; }
/// Returns the size of an attribute.
/// Units: bytes.
std::size_t size_of(AttributeType type);
/// Workgroups along each axis.
using Grid = std::array<std::uint32_t, 3>;

/// Bytes and operations of one node, for reports; not a timing.
struct Cost {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t operations = 0;
};

}  // namespace reprise
