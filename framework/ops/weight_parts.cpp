#include "framework/ops/weight_parts.h"

#include <algorithm>

namespace reprise::ops {
namespace {

constexpr std::size_t kRows = Shape::kMaxRank - 2;  // the last dimension that may be cut

std::size_t missing_dims(const BoundTensor& tensor) {
  return Shape::kMaxRank - tensor.shape().rank();
}

/// Bytes that a binding of `whole` may have, its unaligned start included.
std::uint64_t most_bytes(const BoundTensor& whole, const DeviceTraits& traits) {
  const DTypeInfo& info = info_of(whole.dtype());
  const std::uint64_t indexable = 0xFFFFFFFF / info.block_elements;
  return std::min(traits.max_binding_bytes, indexable * info.block_bytes);
}

/// How many indices of dimension `d` fit, wherever among them a part begins; at least 1.
std::int64_t most_indices(const BoundTensor& whole, const DeviceTraits& traits, Box box,
                          std::size_t d) {
  box.extent[d] = 1;
  const BoxedTensor one(whole, box);
  const std::uint64_t min = traits.binding_alignment - 1 + one.spec.span_bytes();
  const std::uint64_t room = most_bytes(whole, traits);
  const auto stride = static_cast<std::uint64_t>(one.spec.strides[d - missing_dims(whole)]);
  return room <= min
             ? 1
             : 1 + static_cast<std::int64_t>((room - min) / bytes_of(whole.dtype(), stride));
}

/// The dimension that reaches furthest per index, the last one excepted; kMaxRank: none is left.
std::size_t widest_dimension(const BoundTensor& whole, const Box& box) {
  const std::size_t missing = missing_dims(whole);
  std::size_t widest = Shape::kMaxRank;
  std::int64_t stride = 0;
  for (std::size_t d = missing; d <= kRows; ++d) {
    if (box.extent[d] > 1 && whole.spec->strides[d - missing] > stride) {
      widest = d;
      stride = whole.spec->strides[d - missing];
    }
  }
  return widest;
}

void cut(const BoundTensor& whole, const DeviceTraits& traits, std::int64_t row_multiple,
         const Box& box, std::vector<Box>& boxes) {
  const BoxedTensor part(whole, box);
  const std::size_t d = widest_dimension(whole, box);
  if (d == Shape::kMaxRank || fits_one_binding(part.bound, traits)) {
    boxes.push_back(box);
    return;
  }
  std::int64_t step = most_indices(whole, traits, box, d);
  if (d == kRows && step > row_multiple) {
    step -= step % row_multiple;
  }
  const std::int64_t end = box.first[d] + box.extent[d];
  Box slice = box;
  for (; slice.first[d] < end; slice.first[d] += step) {
    slice.extent[d] = std::min(step, end - slice.first[d]);
    cut(whole, traits, row_multiple, slice, boxes);
  }
}

}  // namespace

BoxedTensor::BoxedTensor(const BoundTensor& whole, const Box& box) : bound(whole) {
  const std::size_t missing = missing_dims(whole);
  const auto extents = std::span(box.extent).subspan(missing);
  spec = TensorSpec(Shape(extents), whole.dtype(), whole.spec->strides);
  std::int64_t elements = 0;
  for (std::size_t d = missing; d < Shape::kMaxRank; ++d) {
    elements += box.first[d] * spec.strides[d - missing];
  }
  bound.spec = &spec;
  bound.offset += bytes_of(whole.dtype(), static_cast<std::uint64_t>(elements));
}

bool fits_one_binding(const BoundTensor& tensor, const DeviceTraits& traits) {
  return tensor.offset % traits.binding_alignment + tensor.spec->span_bytes() <=
         most_bytes(tensor, traits);
}

std::vector<Box> boxes_that_fit(const BoundTensor& tensor, const DeviceTraits& traits,
                                std::int64_t row_multiple) {
  std::vector<Box> boxes;
  cut(tensor, traits, row_multiple, Box(tensor.shape()), boxes);
  return boxes;
}

}  // namespace reprise::ops
