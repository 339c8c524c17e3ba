// What an op is (OpDef), one call of it while recording (OpCall), one node of it once its memory is
// known (BoundCall), and its execution on the host (HostCall). Nothing here allocates.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "reprise/core/error.h"
#include "reprise/core/tensor.h"

namespace reprise {

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };
constexpr bool reads(Access a) { return (static_cast<unsigned>(a) & 1U) != 0; }
constexpr bool writes(Access a) { return (static_cast<unsigned>(a) & 2U) != 0; }

/// A scalar of the session's state block, got from Recorder::state. `word` is its place in the
/// block, 4 bytes each.
struct StateField {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t word = kNone;
  DType dtype = DType::i32;
  std::string name{};  // for messages
};

/// Throws invalid_argument if the field has another type.
void require_dtype(const StateField& field, DType wanted, SourceLocation where);
/// Throws invalid_argument: `value` does not fit an i32 attribute.
[[noreturn]] void refuse_constant(const std::string& value, SourceLocation where);

/// The number, or the bucket. Throws invalid_argument above 2^31 - 1.
std::int32_t to_i32(const Extent& extent);

/// An attribute that is a constant or lives in the state block. It is one of the push-constant word
/// pairs {value, word}: shaders read it through shaders/include/state.glsl. A plain `float`
/// attribute refuses a StateField at compile time.
template <class T>
struct Param {
  static_assert(sizeof(T) == 4);
  Param() = default;
  Param(float constant)  // NOLINT(google-explicit-constructor)
      requires std::is_same_v<T, float> : value(constant) {}
  /// Throws invalid_argument for a constant that the attribute cannot hold. A fraction for an
  /// integer does not compile.
  template <std::integral I>
  requires std::is_same_v<T, std::int32_t> Param(I constant,  // NOLINT(google-explicit-constructor)
                                                 SourceLocation where = SourceLocation::here())
      : value(static_cast<T>(constant)) {
    if (!std::in_range<T>(+constant)) {
      refuse_constant(std::to_string(+constant), where);
    }
  }
  Param(const StateField& field,  // NOLINT(google-explicit-constructor)
        SourceLocation where = SourceLocation::here())
      : word(field.word) {
    require_dtype(field, std::is_same_v<T, float> ? DType::f32 : DType::i32, where);
  }
  /// The number of rows of a tensor x, x.shape().extent(0), whoever decides it. Throws
  /// invalid_argument above 2^31 - 1.
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

/// Which strides an operand may have.
enum class Layout : std::uint8_t {
  contiguous,
  rows,  // any, but the elements of a row are neighbours
  any,
};

/// Whether a tensor has such strides.
bool has_layout(const TensorSpec& spec, Layout layout);

/// An input or a result of an op. Shaders bind them in the order of the schema: operands, results,
/// then the state block if an attribute may be dynamic.
struct Operand {
  std::string_view name;
  Access access = Access::read;
  DTypeSet dtypes = 0xFFFFFFFF;
  bool optional = false;  // absent optional operands are bound to the first operand's range
  Layout layout = Layout::contiguous;
};

enum class AttributeType : std::uint8_t { f32, i32, boolean, param_i32, param_f32 };
/// In bytes.
std::size_t size_of(AttributeType type);
struct Attribute {
  std::string_view name;
  AttributeType type;
  std::uint16_t offset;
};

/// Result specs by value: four is enough for every op planned.
struct Outputs {
  static constexpr std::size_t kMax = 4;
  std::array<TensorSpec, kMax> specs;
  std::size_t count = 0;
  std::uint64_t offset = 0;  // views only: bytes added to the source's offset
  Outputs() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outputs(const TensorSpec& only) : count(1) { specs[0] = only; }
};

/// What one node moves and computes, for reports; not a timing.
struct Cost {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t operations = 0;
};

/// What one replay adds to a word of the state block at most.
struct StateGrowth {
  std::uint32_t word = StateField::kNone;
  Param<std::int32_t> by;
};

class Recorder;
class StepList;
struct DeviceTraits;
struct OpDef;

struct OpCall {
  const Recorder& recorder;  // names for messages only
  const OpDef& op;
  std::span<const TensorRef> inputs;  // one per operand; an empty one is optional and absent
  std::span<const std::byte> attributes;
  SourceLocation where;
  template <class A>
  const A& as() const {
    return *reinterpret_cast<const A*>(attributes.data());
  }
};

/// An operand or result with its place: a storage of the graph and a byte offset in it.
struct BoundTensor {
  const TensorSpec* spec = nullptr;
  std::uint32_t storage = 0;
  std::uint64_t offset = 0;
  explicit operator bool() const { return spec != nullptr; }
  const Shape& shape() const { return spec->shape; }
  DType dtype() const { return spec->dtype; }
};

struct BoundCall {
  const OpDef& op;
  std::uint32_t node;                    // index in the graph, or StepList::kNoNode
  std::span<const BoundTensor> tensors;  // operands, then results; absent ones are empty
  BoundTensor state;                     // the state block; read if an attribute is dynamic
  std::span<const std::byte> attributes;
  template <class A>
  const A& as() const {
    return *reinterpret_cast<const A*>(attributes.data());
  }
};

/// A tensor in host memory. Elements are reached through at(), strides applied.
struct HostTensor {
  std::byte* data = nullptr;
  const TensorSpec* spec = nullptr;
  explicit operator bool() const { return data != nullptr; }
  const Shape& shape() const { return spec->shape; }
  DType dtype() const { return spec->dtype; }
  /// Element index of the row (i0, i1, i2) of the shape padded to four dimensions.
  std::int64_t row(std::int64_t i0, std::int64_t i1, std::int64_t i2) const;
  /// Reads or writes one element by index, converting. Plain types only.
  double load(std::int64_t element) const;
  void store(std::int64_t element, double value) const;
  std::int64_t load_integer(std::int64_t element) const;
};

struct HostCall {
  const OpDef& op;
  std::span<const HostTensor> tensors;  // operands, then results; absent ones are empty
  std::span<const std::byte> attributes;
  const std::uint32_t* state;  // null if no attribute is dynamic
  template <class A>
  const A& as() const {
    return *reinterpret_cast<const A*>(attributes.data());
  }
  template <class T>
  T value(const Param<T>& param) const {
    return param.dynamic() ? std::bit_cast<T>(state[param.word]) : param.value;
  }
};

/// What kind of work an op is: for colours and sums of reports.
enum class OpFamily : std::uint8_t {
  other,
  product,
  attention,
  norm,
  elementwise,
  movement,  // copies, gathers, cache writes
  sampling,
};
inline constexpr std::size_t kOpFamilyCount = 7;
std::string_view name_of(OpFamily family);

/// What an op does with operands whose first dimension is an extent of the state. Its results have
/// the same extent, and what lies past it in memory changes nothing before it.
enum class ExtentRule : std::uint8_t {
  none,      // it takes none
  rows,      // rows are computed apart from each other; they have at least 2 dimensions
  elements,  // vectors too
  indexed,   // the same, but of the first operand only rows are taken: results do not have its
             // extent
};

/// An operand of row numbers and the operand they are rows of. Numbers outside of it are no error
/// of a call, which may not know them: they touch no memory.
struct RowNumbers {
  std::int8_t numbers = -1;  // operands; negative: the op has none
  std::int8_t table = -1;
  std::int8_t dim = 0;  // of the table; negative: from the back
};

/// An i32 attribute that says how many rows of an operand are in use. `besides`: the operand whose
/// rows count too; negative: none.
struct UsedRows {
  std::string_view attribute;
  std::int8_t table;
  std::int8_t besides = -1;
};

/// The only place that knows an op: everything else reads this.
struct OpDef {
  std::string_view name;  // also of its shaders, tests, labels and database rows
  OpFamily family = OpFamily::other;
  std::span<const Operand> operands;
  std::span<const Operand> results = {};
  std::span<const Attribute> attributes = {};
  std::uint32_t push_bytes = 0;                    // of its shaders
  std::span<const std::string_view> shaders = {};  // variants, one shader each: "matmul.f16"
  Outputs (*infer)(const OpCall&) = nullptr;       // throws Error naming operands
  Cost (*cost)(const BoundCall&) = nullptr;
  void (*reference)(const HostCall&) = nullptr;  // accumulates in float64: the meaning of the op
  void (*lower)(const BoundCall&, const DeviceTraits&, StepList&) = nullptr;
  StateGrowth (*grows)(const BoundCall&) = nullptr;  // of ops that move a state field on
  bool view = false;                                 // same memory: no node, no shader
  /// An operand whose memory result 0 may take: of the same shape and dtype, and of each element
  /// nothing is read any more once it is written. Negative: none.
  std::int8_t overwrites = -1;
  ExtentRule extents = ExtentRule::none;
  RowNumbers row_numbers{};
  std::span<const UsedRows> used_rows = {};

  bool reads_state() const {
    for (const Attribute& a : attributes) {
      if (a.type == AttributeType::param_i32 || a.type == AttributeType::param_f32) {
        return true;
      }
    }
    return false;
  }
};

/// For shape rules: "x ('name' f32 [2, 3])".
std::string describe(const OpCall& call, std::size_t operand);

/// Bytes read and written of every operand and result, counted once; operations as given.
Cost streaming_cost(const BoundCall& call, std::uint64_t operations);

}  // namespace reprise
