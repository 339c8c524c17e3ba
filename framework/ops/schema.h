// What op definitions share: operands, checks of shape rules with one message grammar, costs, row
// loops of references.
#pragma once
#include <array>

#include "framework/core/op.h"

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

/// Of the shaders of a kind, the first "<kind>.<op>.." and as many in all.
constexpr std::span<const std::string_view> shaders_of(std::span<const std::string_view> kind,
                                                       std::string_view op, std::size_t count) {
  std::size_t at = 0;
  while (!kind[at].substr(kind[at].find('.') + 1).starts_with(op)) {
    ++at;
  }
  return kind.subspan(at, count);
}

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
