// table[row of r, :] = values[r, :], rows outside the table skipped: one invocation copies one
// element. Reads 4 bytes and one id, writes one element.
// variants: f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_F16
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "f16.glsl"
#define STATE_BINDING 3

#ifdef VARIANT_F16
layout(binding = 0) writeonly buffer Table { uint16_t table[]; };
void store(uint i, uint bits) { table[i] = uint16_t(f32_bits_to_f16(bits)); }
#else
layout(binding = 0) writeonly buffer Table { uint table[]; };
void store(uint i, uint bits) { table[i] = bits; }
#endif
layout(binding = 1) readonly buffer Values { uint values[]; };
layout(binding = 2) readonly buffer Ids { uint ids[]; };
#include "set_rows.glsl"

void main() {
  uint i = linear_index();
  if (i >= param_bits(rows) * cols) {
    return;
  }
  uint row;
  if (target_row(i / cols, row)) {
    store(table_offset + row * cols + i % cols, values[at(values_view, unflatten(i, shape))]);
  }
}
