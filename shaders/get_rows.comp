// y[r, :] = table[ids[r], :] as f32, NaN where the id is outside the table: one invocation copies
// one element. Reads one id and one element, writes 4 bytes.
// A large table is bound part by part, one dispatch each: the part that has the row writes it, and
// NaN rows are written by the part that has row 0.
// variants: f32 f16 bf16
#version 450
#extension GL_GOOGLE_include_directive : require
#ifndef VARIANT_F32
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "f16.glsl"
#include "index.glsl"
#define STATE_BINDING 3
#include "state.glsl"

#ifdef VARIANT_F32
layout(binding = 0) readonly buffer Table { uint table[]; };
uint load(uint i) { return table[i]; }
#else
layout(binding = 0) readonly buffer Table { uint16_t table[]; };
#ifdef VARIANT_F16
uint load(uint i) { return f16_to_f32_bits(uint(table[i])); }
#else
uint load(uint i) { return uint(table[i]) << 16; }
#endif
#endif
layout(binding = 1) readonly buffer Ids { uint ids[]; };
layout(binding = 2) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push {
  uint elements;
  uint cols;
  uint ids_per_table;
  uint table_rows;
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
    inside = id < table_rows;
  } else {
    inside = load_id(ids_offset + r * id_words, id_words, table_rows, id);
  }
  uint row = (inside ? id : 0u) - first_row;
  if (row >= part_rows) {
    return;
  }
  uint from = table_offset + (r / ids_per_table * part_rows + row) * cols + i % cols;
  y[y_offset + i] = inside ? load(from) : 0x7FC00000u;
}
