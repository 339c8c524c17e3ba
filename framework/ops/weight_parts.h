// Weights that one binding cannot hold: cut into boxes that fit, for one dispatch each. A row is
// never cut, so every result is computed as without the cut.
#pragma once
#include <vector>

#include "framework/core/op.h"
#include "reprise/backend/step.h"

namespace reprise::ops {

/// A part of a tensor's indices, in its shape padded to four dimensions.
struct Box {
  explicit Box(const Shape& whole) : extent(whole.padded()) {}
  std::array<std::int64_t, Shape::kMaxRank> first{};
  std::array<std::int64_t, Shape::kMaxRank> extent;
};

/// The elements of a tensor inside a box, as an operand. Lives as long as what it is passed to.
struct BoxedTensor {
  BoxedTensor(const BoundTensor& whole, const Box& box);
  BoxedTensor(const BoxedTensor&) = delete;
  BoxedTensor& operator=(const BoxedTensor&) = delete;
  TensorSpec spec;
  BoundTensor bound;  // its spec is the one above
};

/// Whether one binding holds the tensor, and 32-bit element indices reach all of it.
bool fits_one_binding(const BoundTensor& tensor, const DeviceTraits& traits);

/// Boxes that fit, in order and without overlap; one where the tensor fits. They have a multiple of
/// `row_multiple` rows (dimension 2) where as many fit, except at the end. A single row that is too
/// large is a box of its own: StepList::dispatch refuses it.
std::vector<Box> boxes_that_fit(const BoundTensor& tensor, const DeviceTraits& traits,
                                std::int64_t row_multiple);

}  // namespace reprise::ops
