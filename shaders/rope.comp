// Rotary position embedding: one invocation turns one pair of HEADS heads, or copies one element
// after the rotated ones. Reads and writes every element once; the angle, which is most of the work,
// is the same for all heads of a row.
// variants: f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_F16
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT uint16_t
#define TO_FLOAT(e) uintBitsToFloat(f16_to_f32_bits(uint(e)))
#define FROM_FLOAT(f) uint16_t(f32_bits_to_f16(floatBitsToUint(f)))
#else
#define ELEMENT float
#define TO_FLOAT(e) (e)
#define FROM_FLOAT(f) (f)
#endif
#define STATE_BINDING 4
#include "f16.glsl"
#include "fraction.glsl"
#include "index.glsl"
#include "rope_angles.glsl"
#include "state.glsl"
#include "trig.glsl"

layout(constant_id = 1) const uint HEADS = 1;

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer Positions { int positions[]; };
layout(binding = 2) readonly buffer Factors { float factors[]; };
layout(binding = 3) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push {
  uint shape[3];
  uint x_offset;
  uint x_strides[2];
  Param position;
  uint pairs;
  uint given;  // bits 0: positions, 1: factors, 2: half split, 3: sections; then two offsets
  Param base;
  Param scale;
  uint inverse_pairs[2];
  uint ratio[2];
  uint turns[2];
  int exponent;
  Param extrapolation;
  Param ramp_first;
  Param ramp_last;
  Param magnitude;
  uint sections[2];
};
#define positions_offset (given >> 8 & 0xFFu)
#define factors_offset (given >> 16 & 0xFFu)
#define ROPE_SECTIONS
#define ROPE_YARN
#include "rope_sections.glsl"
#include "rope_yarn.glsl"
#include "rope.glsl"

void main() {
  uint index = linear_index();
  uint tasks = shape[2] - pairs;
  uint groups = (shape[1] + HEADS - 1u) / HEADS;
  uint task = index % tasks;
  uint first = index / tasks % groups * HEADS;
  uint row = index / tasks / groups;
  if (row >= shape[0]) {
    return;
  }
  uint end = min(first + HEADS, shape[1]);
  uint x_row = x_offset + row * x_strides[0];
  uint y_row = row * shape[1] * shape[2];
  if (task >= pairs) {
    for (uint head = first; head < end; ++head) {
      uint i = task + pairs;
      y[y_row + head * shape[2] + i] = x[x_row + head * x_strides[1] + i];
    }
    return;
  }
  vec2 sc = rotation_of(row, task) * param_float(magnitude);
  bool half_split = (given & 4u) != 0u;
  uint a = half_split ? task : 2u * task;
  uint b = half_split ? task + pairs : 2u * task + 1u;
  for (uint head = first; head < end; ++head) {
    uint from = x_row + head * x_strides[1];
    uint to = y_row + head * shape[2];
    vec2 pair = turned(TO_FLOAT(x[from + a]), TO_FLOAT(x[from + b]), sc);
    y[to + a] = FROM_FLOAT(pair.x);
    y[to + b] = FROM_FLOAT(pair.y);
  }
}
