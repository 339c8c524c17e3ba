// What an op is (OpDef), one call of it while recording (OpCall), one node of it once its memory is
// known (BoundCall). Nothing here allocates.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "reprise/backend/host_call.h"
#include "reprise/core/error.h"
#include "reprise/core/operand.h"

namespace reprise {

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
  bool chooses_experts = false;  // result 0: i32 [rows, used]

  bool reads_state() const { return std::ranges::any_of(attributes, is_param, &Attribute::type); }
};

/// The extent of the state that tensors of a call share; one of 1 if all are fixed.
template <class T>
Extent extent_of(std::span<const T> tensors) {
  const auto it = std::ranges::find_if(tensors, [](const T& t) { return t && !t.shape().fixed(); });
  return it == tensors.end() ? Extent(1) : it->shape().extent(0);
}

/// Throws invalid_argument for an empty tensor in the place of an operand that a call needs.
[[noreturn]] void refuse_empty(const OpDef& op, std::size_t operand);

/// For shape rules: "x ('name' f32 [2, 3])".
std::string describe(const OpCall& call, std::size_t operand);

/// Bytes read and written of every operand and result, counted once; operations as given.
Cost streaming_cost(const BoundCall& call, std::uint64_t operations);

}  // namespace reprise
