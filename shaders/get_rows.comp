// y[r, :] = table[ids[r], :] as f32, NaN where the id is outside the table: one invocation copies
// one element. Reads one id and one element, of blocks its scale and neighbours too, writes 4 bytes.
// A large table is bound part by part, one dispatch each: the part that has the row writes it, and
// NaN rows are written by the part that has row 0.
// variants: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_K q5_K q6_K q2_K q3_K iq4_nl iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F16) || defined(VARIANT_BF16)
#define ELEMENT uint16_t
#extension GL_EXT_shader_16bit_storage : require
#else
#define ELEMENT uint
#endif
#include "f16.glsl"
#include "index.glsl"
#define STATE_BINDING 3
#include "state.glsl"

layout(binding = 0) readonly buffer Table { ELEMENT table[]; };
layout(binding = 1) readonly buffer Ids { uint ids[]; };
layout(binding = 2) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint elements;
  uint cols;
  uint ids_per_table;
  Param table_rows;
  uint first_row;
  uint part_rows;
  uint table_offset;
  uint y_offset;
  uint ids_offset;
  uint id_words;
  Param fixed_id;
};

#define IDS(i) ids[i]
#include "ids.glsl"

// Bits of element i of the bound part as f32.
#if defined(VARIANT_F32)
uint load(uint i) { return table[table_offset + i]; }
#elif defined(VARIANT_F16)
uint load(uint i) { return f16_to_f32_bits(uint(table[table_offset + i])); }
#elif defined(VARIANT_BF16)
uint load(uint i) { return uint(table[table_offset + i]) << 16; }
#else
#define BLOCK_WORD(i) table[i]
#define BLOCK_HALF(h) uintBitsToFloat(f16_to_f32_bits(h))
#include "blocks.glsl"
uint load(uint i) {
  return floatBitsToUint(block_value(block_of(table_offset, i), i % kBlockElements));
}
#endif

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uint r = i / cols;
  uint id;
  bool inside;
  if (id_words == 0u) {
    id = param_bits(fixed_id);
    inside = id < param_bits(table_rows);
  } else {
    inside = load_id(ids_offset + r * id_words, id_words, param_bits(table_rows), id);
  }
  uint row = (inside ? id : 0u) - first_row;
  if (row >= part_rows) {
    return;
  }
  uint from = (r / ids_per_table * part_rows + row) * cols + i % cols;
  y[y_offset + i] = inside ? load(from) : 0x7FC00000u;
}
