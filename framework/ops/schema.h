// What op definitions share: checks of shape rules with one message grammar, row loops of
// references, words of push constants.
#pragma once
#include <algorithm>
#include <array>

#include "framework/core/lowering.h"

namespace reprise::ops {

/// The operand of ops over one tensor of any strides, and the result of most ops.
inline constexpr Operand kStridedX[] = {
    {"x", Access::read, accepts({DType::f32}), false, Layout::any}};
inline constexpr Operand kFloatY[] = {{"y", Access::write, accepts({DType::f32})}};

/// Number `index` of the i32 attributes that begin at `first`.
constexpr Attribute attribute_of(std::string_view name, std::size_t first, std::size_t index = 0) {
  return {name, AttributeType::i32, static_cast<std::uint16_t>(first + index * 4)};
}

void require_rank(const OpCall& call, std::size_t operand, std::size_t rank);
void require_equal_columns(const OpCall& call, std::size_t a, std::size_t b);
/// Of an optional operand: one row, as long as those of operand `a`.
void require_row(const OpCall& call, std::size_t a, std::size_t operand);
/// `condition` false throws "<op> needs <what>, but <operand a> and <operand b> differ."
void require_pair(bool condition, const OpCall& call, std::string_view what, std::size_t a,
                  std::size_t b);
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

/// Of the shaders of a kind, the first "<kind>.<op>.." and as many in all.
constexpr std::span<const std::string_view> shaders_of(std::span<const std::string_view> kind,
                                                       std::string_view op, std::size_t count) {
  std::size_t at = 0;
  while (!kind[at].substr(kind[at].find('.') + 1).starts_with(op)) {
    ++at;
  }
  return kind.subspan(at, count);
}

/// The shader of an op with variants per dtype: "matmul.q8_0", or "matmul.lanes_q8_0" of "lanes_".
std::string_view shader_for(const OpDef& op, DType dtype, std::string_view variant = {});

/// Streams all tensors, with so many operations per element of one of them: by default of the first
/// operand. exp, tanh and their like count as one.
template <std::uint64_t kOperations, std::size_t kTensor = 0>
Cost cost_per_element(const BoundCall& call) {
  const std::int64_t elements = call.tensors[kTensor].shape().elements();
  return streaming_cost(call, kOperations * static_cast<std::uint64_t>(elements));
}

/// The elements of a host tensor of a plain type of T's size.
template <class T>
T* elements_of(const HostTensor& tensor) {
  return reinterpret_cast<T*>(tensor.data);
}
/// Distance between the elements of a row: not 1 in permuted tensors.
inline std::int64_t last_stride(const HostTensor& tensor) {
  return tensor.spec->strides[tensor.shape().rank() - 1];
}

/// Calls f(i0, i1, i2) for every row of the shape padded to four dimensions.
template <class F>
void for_each_row(const Shape& shape, F&& f) {
  const auto dims = shape.padded();
  for (std::int64_t i0 = 0; i0 < dims[0]; ++i0) {
    for (std::int64_t i1 = 0; i1 < dims[1]; ++i1) {
      for (std::int64_t i2 = 0; i2 < dims[2]; ++i2) {
        f(i0, i1, i2);
      }
    }
  }
}

/// A row of a host tensor of f32.
struct FloatRow {
  float operator[](std::int64_t column) const { return first[column * stride]; }
  const float* first;
  std::int64_t stride;
  std::int64_t columns;
};

/// Calls f(row) for every row of a host tensor of f32.
template <class F>
void for_each_float_row(const HostTensor& x, F&& f) {
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    f(FloatRow{elements_of<const float>(x) + x.row(i0, i1, i2), last_stride(x), x.shape().back()});
  });
}

}  // namespace reprise::ops
