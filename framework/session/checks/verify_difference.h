// Bit-for-bit comparison of elements.
#pragma once
#include "reprise/session/verify.h"

namespace reprise {

/// Of two tensors of one size; of block formats byte by byte. Empty if they are equal.
std::optional<VerifyDifference> difference_of(DType dtype, std::span<const std::byte> expected,
                                              std::span<const std::byte> actual);

}  // namespace reprise
