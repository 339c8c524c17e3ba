// One axis of what slides over tensors: convolution and pooling.
#pragma once
#include "framework/core/op.h"

namespace reprise::ops {

struct Sliding {
  std::int64_t taps, stride, padding, dilation;
  /// Where the window of an output begins; negative inside the padding.
  std::int64_t begin(std::int64_t output) const { return output * stride - padding; }
};

/// Outputs along an axis of `length`. Throws invalid_argument, naming the axis, if a number is out
/// of range or there are none.
std::int64_t outputs_of(const OpCall& call, std::string_view axis, std::int64_t length,
                        const Sliding& s);

}  // namespace reprise::ops
