#include "framework/session/saved/saved_view.h"

#include <algorithm>

namespace reprise {
namespace {

bool is_reshape(const TensorSpec& source, const TensorSpec& view) {
  return source.contiguous() && view.strides == contiguous_strides(view.shape) &&
         view.shape.elements() == source.shape.elements();
}

bool is_permutation(const TensorSpec& source, const TensorSpec& view) {
  const auto axes = [](const TensorSpec& spec) {
    std::array<std::pair<std::int64_t, std::int64_t>, Shape::kMaxRank> list{};
    for (std::size_t d = 0; d < spec.shape.rank(); ++d) {
      list[d] = {spec.shape.dim(d), spec.strides[d]};
    }
    std::ranges::sort(list);
    return list;
  };
  return view.shape.rank() == source.shape.rank() && axes(view) == axes(source);
}

/// One dimension is shorter, and starts where the offset says; an empty one where the source does.
bool is_slice(const TensorSpec& source, const SavedViewAttributes& a) {
  const TensorSpec& view = a.spec;
  if (view.shape.rank() != source.shape.rank() || view.strides != source.strides) {
    return false;
  }
  std::size_t dim = 0;
  std::size_t shorter = 0;
  for (std::size_t d = 0; d < view.shape.rank(); ++d) {
    if (view.shape.dim(d) != source.shape.dim(d)) {
      dim = d;
      ++shorter;
    }
  }
  const std::int64_t spare = source.shape.dim(dim) - view.shape.dim(dim);
  if (shorter != 1 || spare < 0 || view.shape.elements() == 0) {
    return shorter == 1 && spare >= 0 && a.offset == 0;
  }
  // The last start that is not behind the offset; a start within a block has the offset of its end.
  const DTypeInfo& info = info_of(view.dtype);
  const std::uint64_t elements = a.offset / info.block_bytes * info.block_elements;
  const auto stride = static_cast<std::uint64_t>(std::max<std::int64_t>(source.strides[dim], 1));
  const std::uint64_t start = std::min(elements / stride, static_cast<std::uint64_t>(spare));
  return bytes_of(view.dtype, start * static_cast<std::uint64_t>(source.strides[dim])) == a.offset;
}

Outputs infer(const OpCall& call) {
  const auto& a = call.as<SavedViewAttributes>();
  const TensorSpec& source = call.inputs[0].spec();
  const DTypeInfo& info = info_of(a.spec.dtype);
  const bool whole = info.block_elements == 1 ||
                     (a.spec.contiguous() && a.spec.shape.back() % info.block_elements == 0);
  const bool shows =
      (a.offset == 0 && (is_reshape(source, a.spec) || is_permutation(source, a.spec))) ||
      is_slice(source, a);
  if (a.spec.dtype != source.dtype || !whole || a.offset % info.block_bytes != 0 || !shows) {
    throw_invalid_argument("A view ", to_string(a.spec), " at (", a.offset, ") bytes of ",
                           describe(call, 0), " is no reshape, permute or slice of it.");
  }
  Outputs outputs(a.spec);
  outputs.offset = a.offset;
  return outputs;
}

constexpr Operand kOperands[] = {{"x", Access::read, 0xFFFFFFFF, false, Layout::any}};
constexpr Operand kResults[] = {{"y", Access::write}};

}  // namespace

const OpDef saved_view_def{.name = "view",
                           .operands = kOperands,
                           .results = kResults,
                           .attributes = {},
                           .shaders = {},
                           .infer = infer,
                           .view = true};

}  // namespace reprise
