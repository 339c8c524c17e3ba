// table[row of r, :] = values[r, :] for contiguous values whose rows are whole texels: one invocation
// copies 4 elements, for drivers that fetch texels as vectors.
// variants: f32 f16
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_GOOGLE_include_directive : require
#include "f16.glsl"
#include "texels.glsl"
#define STATE_BINDING 3

layout(binding = 0) writeonly buffer Table { uint64_t table[]; };  // stores cost the same at any width
TEXELS(1, values);
layout(binding = 2) readonly buffer Ids { uint ids[]; };
#include "set_rows.glsl"

void main() {
  uint i = linear_index() * kTexelFloats;
  if (i >= param_bits(rows) * cols) {
    return;
  }
  uint row;
  if (target_row(i / cols, row)) {
    uvec4 bits = words_at(values, (values_view.offset + i) / kTexelFloats);
    uint to = table_offset + row * cols + i % cols;
#ifdef VARIANT_F16
    table[to / 4u] = packUint2x32(uvec2(f32_bits_to_f16(bits.x) | f32_bits_to_f16(bits.y) << 16,
                                        f32_bits_to_f16(bits.z) | f32_bits_to_f16(bits.w) << 16));
#else
    table[to / 2u] = packUint2x32(bits.xy);
    table[to / 2u + 1u] = packUint2x32(bits.zw);
#endif
  }
}
