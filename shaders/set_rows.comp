// table[row of r, :] = values[r, :], rows outside the table skipped: one invocation copies one
// element, or makes one block. Reads 4 bytes for each element and one id, writes one element or
// block.
// variants: f32 f16 q8_0 q4_0
#version 450
#extension GL_GOOGLE_include_directive : require
#ifndef VARIANT_F32
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "f16.glsl"
#define STATE_BINDING 3

#ifdef VARIANT_F32
layout(binding = 0) writeonly buffer Table { uint table[]; };
#else
layout(binding = 0) writeonly buffer Table { uint16_t table[]; };
#endif
layout(binding = 1) readonly buffer Values { uint values[]; };
layout(binding = 2) readonly buffer Ids { uint ids[]; };
#include "set_rows.glsl"

uint value_bits(uint i) { return values[at(values_view, unflatten(i, shape))]; }

// Of one invocation: values from i on go to the same row, from element `to` of the table on.
#if defined(VARIANT_F32)
const uint kTogether = 1u;
void store(uint to, uint i) { table[table_offset + to] = value_bits(i); }
#elif defined(VARIANT_F16)
const uint kTogether = 1u;
void store(uint to, uint i) { table[table_offset + to] = uint16_t(f32_bits_to_f16(value_bits(i))); }
#else
#define ENCODED_BITS(i) value_bits(i)
#define ENCODED_HALF(i, half) table[i] = uint16_t(half)
#include "encode_block.glsl"
const uint kTogether = 32u;
void store(uint to, uint i) { encode_block(i, table_offset + to / 32u * kEncodedHalves); }
#endif

void main() {
  uint i = linear_index() * kTogether;
  if (i >= param_bits(rows) * cols) {
    return;
  }
  uint row;
  if (target_row(i / cols, row)) {
    store(row * cols + i % cols, i);
  }
}
