#include "reprise/ops/views.h"

#include <algorithm>

#include "framework/core/record.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"x", Access::read, 0xFFFFFFFF, false, Layout::any}};
constexpr Operand kResults[] = {{"y", Access::write}};

// Attribute tables describe nodes, and views leave none: theirs stay empty.
struct ReshapeAttributes {
  Shape shape;
};

struct PermuteAttributes {
  std::uint64_t count;  // as given, kept for the message even if above four
  std::array<std::uint64_t, Shape::kMaxRank> axes;
};

struct SliceAttributes {
  std::uint64_t dim;
  std::int64_t start;
  std::int64_t length;
};

// Blocks cannot be split: rows of whole blocks, one after the other, at a whole block.
void require_whole_blocks(const OpCall& call, const TensorSpec& view, std::int64_t first) {
  const std::int64_t block = info_of(view.dtype).block_elements;
  if (block > 1 && (!view.contiguous() || view.shape.back() % block != 0 || first % block != 0)) {
    throw_invalid_argument(call.op.name, " needs whole, contiguous blocks of (", block,
                           ") elements, but the result ", to_string(view), " of ",
                           describe(call, 0), " would split or reorder them.");
  }
}

Outputs infer_reshape(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const Shape& shape = call.as<ReshapeAttributes>().shape;
  if (!x.spec().contiguous()) {
    throw_invalid_argument("reshape needs a contiguous tensor, but ", describe(call, 0),
                           " is a strided view; call copy first.");
  }
  if (shape.rank() == 0 || shape.elements() != x.shape().elements()) {
    throw_invalid_argument("reshape to ", to_string(shape), " needs (", x.shape().elements(),
                           ") elements, those of ", describe(call, 0), ", but has ",
                           shape.rank() == 0 ? 0 : shape.elements(), ".");
  }
  if (shape.extent_word() != x.shape().extent_word() ||
      (!shape.fixed() && shape.dim(0) != x.shape().dim(0))) {
    throw_invalid_argument("reshape to ", to_string(shape), " needs the first dimension of ",
                           describe(call, 0), ", which has an extent of the state, as it is.");
  }
  const TensorSpec view{shape, x.dtype()};
  require_whole_blocks(call, view, 0);
  return view;
}

Outputs infer_permute(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const auto& a = call.as<PermuteAttributes>();
  const std::size_t rank = x.shape().rank();
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  Strides strides{};
  unsigned seen = 0;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(a.count, rank); ++i) {
    if (a.axes[i] < rank) {
      seen |= 1U << a.axes[i];
      dims[i] = x.shape().dim(a.axes[i]);
      strides[i] = x.spec().strides[a.axes[i]];
    }
  }
  if (a.count != rank || seen != (1U << rank) - 1U) {
    throw_invalid_argument("permute needs every axis from 0 to ", rank - 1,
                           " exactly once, but got (", a.count, ") axes, or repeated ones, for ",
                           describe(call, 0), ".");
  }
  if (!x.shape().fixed() && a.axes[0] != 0) {
    throw_invalid_argument("permute needs the first dimension of ", describe(call, 0),
                           ", which has an extent of the state, where it is.");
  }
  const Shape shape(std::span<const std::int64_t>(dims).first(rank));
  const TensorSpec view{shape.with_extent(x.shape().extent_word()), x.dtype(), strides};
  require_whole_blocks(call, view, 0);
  return view;
}

Outputs infer_slice(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const auto& a = call.as<SliceAttributes>();
  const std::size_t rank = x.shape().rank();
  if (a.dim >= rank) {
    throw_invalid_argument("slice of dimension (", a.dim, ") needs one from 0 to ", rank - 1,
                           ", the dimensions of ", describe(call, 0), ".");
  }
  const std::int64_t extent = x.shape().dim(a.dim);
  if (a.start < 0 || a.start > extent || a.length < 0 || a.length > extent - a.start) {
    throw_invalid_argument("slice of (", a.length, ") indices from (", a.start,
                           ") leaves dimension ", a.dim, " of ", describe(call, 0), ", which has ",
                           extent, ".");
  }
  if (!x.shape().fixed() && a.dim == 0 && a.length != extent) {
    throw_invalid_argument("slice cannot cut dimension 0 of ", describe(call, 0),
                           ", which has an extent of the state; get_rows takes rows by a field.");
  }
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = i == a.dim ? a.length : x.shape().dim(i);
  }
  const Shape shape(std::span<const std::int64_t>(dims).first(rank));
  const TensorSpec view{shape.with_extent(x.shape().extent_word()), x.dtype(), x.spec().strides};
  // An empty slice starts where x does: it must not point past the memory.
  const std::int64_t first = view.shape.elements() == 0 ? 0 : a.start * x.spec().strides[a.dim];
  require_whole_blocks(call, view, first);
  Outputs outputs(view);
  outputs.offset = bytes_of(x.dtype(), static_cast<std::uint64_t>(first));
  return outputs;
}

constexpr OpDef view_def(std::string_view name, Outputs (*infer)(const OpCall&)) {
  return {.name = name, .operands = kOperands, .results = kResults, .infer = infer, .view = true};
}

constexpr OpDef reshape_def = view_def("reshape", infer_reshape);
constexpr OpDef permute_def = view_def("permute", infer_permute);
constexpr OpDef slice_def = view_def("slice", infer_slice);

}  // namespace
}  // namespace reprise::ops

namespace reprise {

Tensor reshape(Site site, TensorRef x, const Shape& shape) {
  return record(site, ops::reshape_def, {x}, ops::ReshapeAttributes{shape});
}

Tensor permute(Site site, TensorRef x, std::span<const std::size_t> axes) {
  ops::PermuteAttributes a{axes.size(), {}};
  std::ranges::copy(axes.first(std::min(axes.size(), a.axes.size())), a.axes.begin());
  return record(site, ops::permute_def, {x}, a);
}

Tensor slice(Site site, TensorRef x, std::size_t dim, std::int64_t start, std::int64_t length) {
  return record(site, ops::slice_def, {x}, ops::SliceAttributes{dim, start, length});
}

}  // namespace reprise
