#include "reprise/ops/movement.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr std::size_t kRank = Shape::kMaxRank;
using Index = std::array<std::int64_t, kRank>;

struct ConcatAttributes {
  std::int32_t dim;
};

/// The shape of a result: a shape has no place among attributes.
struct RepeatAttributes {
  explicit RepeatAttributes(const Shape& shape)
      : rank(static_cast<std::int32_t>(shape.rank())),
        extent(static_cast<std::int32_t>(shape.extent_word())) {
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      dims[i] = static_cast<std::int32_t>(word(shape.dim(i)));
    }
  }
  std::int32_t rank;
  std::int32_t extent;  // the word of the state that has the first one
  std::array<std::int32_t, kRank> dims{};
};

constexpr Operand kTwo[] = {{"a", Access::read, 0xFFFFFFFF, false, Layout::any},
                            {"b", Access::read, 0xFFFFFFFF, false, Layout::any}};
constexpr Operand kOne[] = {{"x", Access::read, 0xFFFFFFFF, false, Layout::any}};
constexpr Operand kResults[] = {{"y", Access::write}};

constexpr Attribute kConcatAttributes[] = {attribute_of("dim", 0)};
constexpr std::size_t kDims = offsetof(RepeatAttributes, dims);
constexpr Attribute kRepeatAttributes[] = {
    attribute_of("rank", offsetof(RepeatAttributes, rank)),
    attribute_of("extent", offsetof(RepeatAttributes, extent)),
    attribute_of("dim0", kDims, 0),
    attribute_of("dim1", kDims, 1),
    attribute_of("dim2", kDims, 2),
    attribute_of("dim3", kDims, 3)};
constexpr std::size_t kBefore = offsetof(PadAttributes, before);
constexpr std::size_t kAfter = offsetof(PadAttributes, after);
constexpr Attribute kPadAttributes[] = {
    attribute_of("before0", kBefore, 0), attribute_of("before1", kBefore, 1),
    attribute_of("before2", kBefore, 2), attribute_of("before3", kBefore, 3),
    attribute_of("after0", kAfter, 0),   attribute_of("after1", kAfter, 1),
    attribute_of("after2", kAfter, 2),   attribute_of("after3", kAfter, 3)};

constexpr std::string_view kShaders[] = {
    "movement.concat_w16", "movement.concat_w32", "movement.concat_w64",
    "movement.pad_w16",    "movement.pad_w32",    "movement.pad_w64",
    "movement.repeat_w16", "movement.repeat_w32", "movement.repeat_w64"};

// Mirrors the push block of shaders/movement.comp. The last dimension and its strides count units.
struct Push {
  std::array<std::uint32_t, 4> shape;    // of y
  std::array<std::uint32_t, 4> x_shape;  // of the first operand
  View x;
  View b;                               // concat alone
  std::array<std::uint32_t, 4> before;  // pad alone
  std::uint32_t dim;                    // concat alone
  std::uint32_t units;
};

/// What is moved at once: an element, or 2 bytes of a block.
struct Unit {
  explicit Unit(DType type)
      : block(info_of(type).block_elements),
        bytes(block > 1 ? 2 : info_of(type).block_bytes),
        per_block(info_of(type).block_bytes / bytes) {}
  /// Units in so many elements, whole blocks.
  std::int64_t of(std::int64_t elements) const { return elements / block * per_block; }
  std::int64_t block, bytes, per_block;
};

/// The extents padded to four dimensions, the last one in units.
Index extents_in(const Shape& shape, const Unit& unit) {
  Index dims = shape.padded();
  dims[kRank - 1] = unit.of(dims[kRank - 1]);
  return dims;
}

std::array<std::uint32_t, 4> words_of(const Index& index) {
  return {word(index[0]), word(index[1]), word(index[2]), word(index[3])};
}

/// Where pad begins with x, in units.
Index origin_of(const PadAttributes& a, const Shape& shape, const Unit& unit) {
  Index origin{};
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    origin[kRank - shape.rank() + i] = a.before[i];
  }
  origin[kRank - 1] = unit.of(origin[kRank - 1]);
  return origin;
}

std::string of_dimension(std::int64_t dim) { return "dimension (" + std::to_string(dim) + ")"; }

Outputs infer_concat(const OpCall& call) {
  const Shape& a = call.inputs[0].shape();
  const Shape& b = call.inputs[1].shape();
  const std::int32_t given = call.as<ConcatAttributes>().dim;
  require_pair(call.inputs[0].dtype() == call.inputs[1].dtype(), call, "operands of one dtype", 0,
               1);
  require_pair(a.rank() == b.rank(), call, "operands of one rank", 0, 1);
  const auto dim = static_cast<std::size_t>(given);
  if (given < 0 || dim >= a.rank()) {
    throw_invalid_argument("concat along ", of_dimension(given), " needs one from 0 to ",
                           a.rank() - 1, ", the dimensions of ", describe(call, 0), ".");
  }
  if (dim == 0 && !(a.fixed() && b.fixed())) {
    throw_invalid_argument("concat cannot go along dimension (0) of ", describe(call, 0), " and ",
                           describe(call, 1), ", which has an extent of the state.");
  }
  Index dims{};
  for (std::size_t i = 0; i < a.rank(); ++i) {
    require_pair(i == dim || a.dim(i) == b.dim(i), call,
                 "equal dimensions but for dimension (" + std::to_string(dim) + ")", 0, 1);
    dims[i] = a.dim(i) + (i == dim ? b.dim(i) : 0);
  }
  require_pair(a.extent_word() == b.extent_word(), call, "operands of one extent of the state", 0,
               1);
  const Shape shape(std::span<const std::int64_t>(dims).first(a.rank()));
  return TensorSpec{shape.with_extent(a.extent_word()), call.inputs[0].dtype()};
}

Outputs infer_repeat(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  const auto& a = call.as<RepeatAttributes>();
  if (a.rank < 1 || a.rank > static_cast<std::int32_t>(kRank) ||
      std::ranges::any_of(a.dims, [](std::int32_t dim) { return dim < 0; })) {
    throw_invalid_argument("repeat needs a shape of rank 1 to 4 with extents of at most 2^31 - 1.");
  }
  Index dims{};
  std::ranges::copy(a.dims, dims.begin());
  const Shape shape =
      Shape(std::span<const std::int64_t>(dims).first(static_cast<std::size_t>(a.rank)))
          .with_extent(static_cast<std::uint32_t>(a.extent));
  const Index from = x.padded();
  const Index to = shape.padded();
  bool multiples = x.rank() <= shape.rank();
  for (std::size_t i = 0; i < kRank; ++i) {
    multiples = multiples && (from[i] == 0 ? to[i] == 0 : to[i] % from[i] == 0);
  }
  if (!multiples) {
    throw_invalid_argument("repeat needs a shape whose dimensions are multiples of those of ",
                           describe(call, 0), ", aligned at the last, but got ", to_string(shape),
                           ".");
  }
  const bool keeps_extent = x.fixed() ? shape.fixed()
                                      : shape.extent_word() == x.extent_word() &&
                                            shape.rank() == x.rank() && shape.dim(0) == x.dim(0);
  if (!keeps_extent) {
    throw_invalid_argument("repeat to ", to_string(shape), " needs the extent of the state of ",
                           describe(call, 0), " as it is, in the first dimension.");
  }
  return TensorSpec{shape, call.inputs[0].dtype()};
}

Outputs infer_pad(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const auto& a = call.as<PadAttributes>();
  const std::size_t rank = x.shape().rank();
  const std::int64_t block = info_of(x.dtype()).block_elements;
  Index dims{};
  for (std::size_t i = 0; i < kRank; ++i) {
    const std::string given = "(" + std::to_string(a.before[i]) + ") and (" +
                              std::to_string(a.after[i]) + ") in dimension " + std::to_string(i);
    const bool some = a.before[i] != 0 || a.after[i] != 0;
    if (a.before[i] < 0 || a.after[i] < 0 || (some && i >= rank)) {
      throw_invalid_argument("pad takes numbers of at least 0 in dimensions 0 to ", rank - 1,
                             ", those of ", describe(call, 0), ", but got ", given, ".");
    }
    if (some && i == 0 && !x.shape().fixed()) {
      throw_invalid_argument("pad cannot put zeros into the first dimension of ", describe(call, 0),
                             ", which has an extent of the state, but got ", given, ".");
    }
    if (i + 1 == rank && (a.before[i] % block != 0 || a.after[i] % block != 0)) {
      throw_invalid_argument("pad needs whole blocks of ", block, " elements for ",
                             describe(call, 0), ", but got ", given, ".");
    }
    dims[i] = i < rank ? x.shape().dim(i) + a.before[i] + a.after[i] : 0;
  }
  const Shape shape(std::span<const std::int64_t>(dims).first(rank));
  return TensorSpec{shape.with_extent(x.shape().extent_word()), x.dtype()};
}

/// Where the unit at an index of the shape padded to four dimensions lies.
const std::byte* unit_at(const HostTensor& tensor, const Index& at, const Unit& unit) {
  const std::int64_t row = tensor.row(at[0], at[1], at[2]);
  const std::int64_t column = at[kRank - 1];
  return unit.block > 1 ? tensor.data + bytes_of(tensor.dtype(), static_cast<std::uint64_t>(row)) +
                              column * unit.bytes
                        : tensor.data + (row + column * last_stride(tensor)) * unit.bytes;
}

/// Fills y with the units that `source` finds for their indices; null: zeros.
template <class F>
void fill(const HostTensor& y, const Unit& unit, F&& source) {
  const std::int64_t columns = extents_in(y.shape(), unit)[kRank - 1];
  std::byte* to = y.data;
  for_each_row(y.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    for (std::int64_t c = 0; c < columns; ++c, to += unit.bytes) {
      const std::byte* from = source({i0, i1, i2, c});
      if (from == nullptr) {
        std::memset(to, 0, static_cast<std::size_t>(unit.bytes));
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(unit.bytes));
      }
    }
  });
}

std::size_t padded_dim(std::int32_t dim, const Shape& shape) {
  return kRank - shape.rank() + static_cast<std::size_t>(dim);
}

void concat_reference(const HostCall& call) {
  const HostTensor& a = call.tensors[0];
  const HostTensor& b = call.tensors[1];
  const Unit unit(a.dtype());
  const std::size_t dim = padded_dim(call.as<ConcatAttributes>().dim, a.shape());
  const std::int64_t first = extents_in(a.shape(), unit)[dim];
  fill(call.tensors[2], unit, [&](Index at) {
    if (at[dim] < first) {
      return unit_at(a, at, unit);
    }
    at[dim] -= first;
    return unit_at(b, at, unit);
  });
}

void repeat_reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const Unit unit(x.dtype());
  const Index dims = extents_in(x.shape(), unit);
  fill(call.tensors[1], unit, [&](Index at) {
    for (std::size_t i = 0; i < kRank; ++i) {
      at[i] %= dims[i];
    }
    return unit_at(x, at, unit);
  });
}

void pad_reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const Unit unit(x.dtype());
  const Index dims = extents_in(x.shape(), unit);
  const Index origin = origin_of(call.as<PadAttributes>(), x.shape(), unit);
  fill(call.tensors[1], unit, [&](Index at) -> const std::byte* {
    for (std::size_t i = 0; i < kRank; ++i) {
      at[i] -= origin[i];
      if (at[i] < 0 || at[i] >= dims[i]) {
        return nullptr;
      }
    }
    return unit_at(x, at, unit);
  });
}

/// How the kernels address an operand in units.
View view_in(const BoundTensor& tensor, const Unit& unit, const DeviceTraits& traits) {
  indexable_elements(tensor);
  View view = view_of(tensor, traits);
  for (std::size_t i = 0; unit.block > 1 && i + 1 < kRank; ++i) {
    view.strides[i] = word(unit.of(view.strides[i]));
  }
  return view;
}

Push push_of(const BoundCall& call, const Unit& unit, const DeviceTraits& traits) {
  const BoundTensor& y = call.tensors.back();
  Push push{};
  push.shape = words_of(extents_in(y.shape(), unit));
  push.x_shape = words_of(extents_in(call.tensors[0].shape(), unit));
  push.x = view_in(call.tensors[0], unit, traits);
  indexable_elements(y);
  push.units = word(unit.of(y.shape().elements()));
  return push;
}

void dispatch(const BoundCall& call, const Unit& unit, const Push& push, const DeviceTraits& traits,
              StepList& steps) {
  const std::size_t width = unit.bytes == 2 ? 0 : unit.bytes == 4 ? 1 : 2;
  dispatch_units(call, traits, steps, call.op.shaders[width],
                 {call.tensors.back().shape(), push.units}, push);
}

void concat_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Unit unit(call.tensors[0].dtype());
  Push push = push_of(call, unit, traits);
  push.b = view_in(call.tensors[1], unit, traits);
  push.dim = static_cast<std::uint32_t>(
      padded_dim(call.as<ConcatAttributes>().dim, call.tensors[0].shape()));
  dispatch(call, unit, push, traits, steps);
}

void repeat_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Unit unit(call.tensors[0].dtype());
  dispatch(call, unit, push_of(call, unit, traits), traits, steps);
}

void pad_lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const Unit unit(x.dtype());
  Push push = push_of(call, unit, traits);
  push.before = words_of(origin_of(call.as<PadAttributes>(), x.shape(), unit));
  dispatch(call, unit, push, traits, steps);
}

constexpr OpDef movement_def(std::string_view name, std::span<const Operand> operands,
                             std::span<const Attribute> attributes, Outputs (*infer)(const OpCall&),
                             void (*reference)(const HostCall&),
                             void (*lower)(const BoundCall&, const DeviceTraits&, StepList&)) {
  return {.name = name,
          .family = OpFamily::movement,
          .operands = operands,
          .results = kResults,
          .attributes = attributes,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 3),
          .infer = infer,
          .cost = cost_per_element<0>,
          .reference = reference,
          .lower = lower,
          .extents = ExtentRule::elements};
}

}  // namespace

extern const OpDef concat_def, pad_def, repeat_def;
constinit const OpDef concat_def =
    movement_def("concat", kTwo, kConcatAttributes, infer_concat, concat_reference, concat_lower);
constinit const OpDef pad_def =
    movement_def("pad", kOne, kPadAttributes, infer_pad, pad_reference, pad_lower);
constinit const OpDef repeat_def =
    movement_def("repeat", kOne, kRepeatAttributes, infer_repeat, repeat_reference, repeat_lower);

}  // namespace reprise::ops

namespace reprise {

Tensor concat(Site site, TensorRef a, TensorRef b, std::size_t dim) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  return record(site, ops::concat_def, {a, b},
                ops::ConcatAttributes{static_cast<std::int32_t>(std::min(dim, kMost))});
}

Tensor repeat(Site site, TensorRef x, const Shape& shape) {
  return record(site, ops::repeat_def, {x}, ops::RepeatAttributes(shape));
}

Tensor pad(Site site, TensorRef x, const PadAttributes& a) {
  return record(site, ops::pad_def, {x}, a);
}

}  // namespace reprise
