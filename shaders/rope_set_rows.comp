// table[row of r, :] = rope(x)[r, :], rows outside the table skipped: as rope.comp, one invocation
// turns one pair of HEADS heads, or copies one element after the rotated ones. Reads 4 bytes and
// writes one element of the table for each.
// variants: f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_F16
#extension GL_EXT_shader_16bit_storage : require
#endif
#define STATE_BINDING 5
#include "f16.glsl"
#include "fraction.glsl"
#include "index.glsl"
#include "rope_angles.glsl"
#include "state.glsl"
#include "trig.glsl"

layout(constant_id = 1) const uint HEADS = 1;

#ifdef VARIANT_F16
layout(binding = 0) writeonly buffer Table { uint16_t table[]; };
void store(uint i, float value) { table[i] = uint16_t(f32_bits_to_f16(floatBitsToUint(value))); }
#else
layout(binding = 0) writeonly buffer Table { float table[]; };
void store(uint i, float value) { table[i] = value; }
#endif
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer Positions { int positions[]; };
layout(binding = 3) readonly buffer Factors { float factors[]; };
layout(binding = 4) readonly buffer Ids { uint ids[]; };
// Packed: 128 bytes are all that a driver must have.
layout(push_constant) uniform Push {
  Param rows;
  uint shape[2];  // heads, elements of a head
  uint x_offset;
  uint x_strides[3];
  Param position;
  uint pairs;
  uint given;  // bits 0: positions, 1: factors, 2: half split, 3 and 4: words of an id, 0 if none
  uint positions_offset;
  uint factors_offset;
  uint ids_offset;
  Param base;
  Param scale;
  uint inverse_pairs[2];
  uint ratio[2];
  uint turns[2];
  int exponent;
  uint capacity;
  uint table_offset;
  Param row_position;
  Param window;
};
#include "rope.glsl"
#define IDS(i) ids[i]
#include "ids.glsl"
#define TARGET_ID_WORDS (given >> 3)
#define TARGET_ROWS param_bits(rows)
#define TARGET_POSITION row_position
#include "target_row.glsl"

void main() {
  uint index = linear_index();
  uint tasks = shape[1] - pairs;
  uint groups = (shape[0] + HEADS - 1u) / HEADS;
  uint task = index % tasks;
  uint first = index / tasks % groups * HEADS;
  uint row = index / tasks / groups;
  uint target;
  if (row >= param_bits(rows) || !target_row(row, target)) {
    return;
  }
  uint end = min(first + HEADS, shape[0]);
  uint from = x_offset + row * x_strides[0] + first * x_strides[1];
  uint to = table_offset + (target * shape[0] + first) * shape[1];
  if (task >= pairs) {
    for (uint head = first; head < end; ++head) {
      store(to + task + pairs, x[from + (task + pairs) * x_strides[2]]);
      from += x_strides[1];
      to += shape[1];
    }
    return;
  }
  vec2 sc = rotation_of(row, task);
  bool half_split = (given & 4u) != 0u;
  uint a = half_split ? task : 2u * task;
  uint b = half_split ? task + pairs : 2u * task + 1u;
  for (uint head = first; head < end; ++head) {
    vec2 pair = turned(x[from + a], x[from + b], sc);
    store(to + a, pair.x);
    store(to + b, pair.y);
    from += x_strides[1];
    to += shape[1];
  }
}
