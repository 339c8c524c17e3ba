// A kernel of the demo's own: the hyperbolic tangent, from a table that every 24th position makes
// anew. It is what the demo's outliers and its slower node come from.
#pragma once
#include "reprise/reprise.h"

namespace reprise::debugger {

/// How a value finds its place in the table.
enum class Lookup : std::uint8_t { index, search };

/// For the CPU.
CustomKernel compile_soft_limit(const Device& device, Lookup lookup);

/// Tensors of f32; `pos` is the position that tells when the table is made.
Tensor soft_limit(Site site, const CustomKernel& kernel, const Tensor& x,
                  const Param<std::int32_t>& pos);

}  // namespace reprise::debugger
