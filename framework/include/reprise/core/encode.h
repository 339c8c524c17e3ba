// Conversion of f32 to the formats that ops write; the only code that rounds to them.
#pragma once
#include <cstddef>

#include "reprise/core/dtype.h"

namespace reprise {

/// Converts consecutive elements, whole blocks. `to` needs no alignment.
/// - f16, bf16: to the nearest, ties to even; too large ones become infinite, NaN stay NaN.
/// - q8_0: the scale is m / 127, where m is the largest magnitude of the block. Integers are values
///   divided by it, to the nearest, halves away from zero.
/// - q4_0: the scale is m / -8, where m is the first value of the largest magnitude. Integers are
///   values divided by it plus 8, halves up, at most 15.
/// Integers are found with the scale before it is rounded to half precision. All of a block with an
/// infinity or a NaN decodes to NaN; one whose scale rounds to 0 has values of 0.
/// Source: ggml's quantize_row_q8_0_ref and quantize_row_q4_0_ref, bit for bit otherwise.
using Encode = void (*)(const float* from, std::size_t elements, std::byte* to);
/// Returns the encoder of a dtype; null except for f32, f16, bf16, q8_0 and q4_0.
Encode encoder_of(DType type);

}  // namespace reprise
