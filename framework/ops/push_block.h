// Push blocks of the kernels of ops, and the dispatch of most.
#pragma once
#include <algorithm>
#include <array>

#include "framework/core/lowering.h"

namespace reprise::ops {

[[noreturn]] void not_a_word(std::int64_t value);
/// An extent or stride as a push-constant word. Throws unsupported above 2^32 - 1.
inline std::uint32_t word(std::int64_t value) {
  if (value < 0 || value > 0xFFFFFFFF) {
    not_a_word(value);
  }
  return static_cast<std::uint32_t>(value);
}
/// The shape padded to four dimensions.
inline std::array<std::uint32_t, 4> shape_words(const Shape& shape) {
  const auto dims = shape.padded();
  return {word(dims[0]), word(dims[1]), word(dims[2]), word(dims[3])};
}
/// The extent of the first dimension, for kernels that have to know where rows end: one of the
/// state is read when they run.
inline Param<std::int32_t> rows_of(const Shape& shape) {
  Param<std::int32_t> rows(static_cast<std::int32_t>(word(shape.dim(0))));
  rows.word = shape.extent_word();
  return rows;
}
/// Where tensors begin in their bindings; 0 of absent ones.
template <std::size_t kCount>
std::array<std::uint32_t, kCount> offsets_of(std::span<const BoundTensor, kCount> tensors,
                                             const DeviceTraits& traits) {
  std::array<std::uint32_t, kCount> offsets;
  std::ranges::transform(tensors, offsets.begin(),
                         [&](const BoundTensor& tensor) { return view_of(tensor, traits).offset; });
  return offsets;
}

/// Words that a row number has: 0 if there are none.
inline std::uint32_t words_of_ids(const BoundTensor& ids) {
  return !ids ? 0 : ids.dtype() == DType::i64 ? 2 : 1;
}
/// The number of elements. Throws unsupported if 32-bit element indices cannot reach all of them
/// from the start of the binding, gaps of strided views included.
std::uint32_t indexable_elements(const BoundTensor& tensor);

/// What the push blocks of kernels over one strided tensor begin with: uvec4 shape; View x. Throws
/// as indexable_elements() does.
struct StridedTensor {
  StridedTensor(const BoundTensor& tensor, const DeviceTraits& traits)
      : shape(shape_words(tensor.shape())), view(view_of(tensor, traits)) {
    indexable_elements(tensor);
  }
  std::array<std::uint32_t, 4> shape;
  View view;
};

/// Dispatches an invocation for each unit of work, or for so many.
template <class Push>
void dispatch_units(const BoundCall& call, const DeviceTraits& traits, StepList& steps,
                    std::string_view shader, const Work& units, const Push& push,
                    std::uint32_t each = 1) {
  steps.dispatch(call, traits, {shader, {traits.workgroup_size}, 1},
                 groups_for(units, each * traits.workgroup_size), push);
}

/// The shader of an op with variants per dtype: "matmul.q8_0", or "matmul.lanes_q8_0" of "lanes_".
std::string_view shader_for(const OpDef& op, DType dtype, std::string_view variant = {});

}  // namespace reprise::ops
