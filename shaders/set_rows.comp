// table[row of r, :] = values[r, :], rows outside the table skipped: one invocation copies one
// element. Reads 4 bytes and one id, writes one element.
// variants: f32 f16
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef VARIANT_F16
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "f16.glsl"
#include "index.glsl"
#include "view.glsl"
#define STATE_BINDING 3
#include "state.glsl"

#ifdef VARIANT_F16
layout(binding = 0) writeonly buffer Table { uint16_t table[]; };
void store(uint i, uint bits) { table[i] = uint16_t(f32_bits_to_f16(bits)); }
#else
layout(binding = 0) writeonly buffer Table { uint table[]; };
void store(uint i, uint bits) { table[i] = bits; }
#endif
layout(binding = 1) readonly buffer Values { uint values[]; };
layout(binding = 2) readonly buffer Ids { uint ids[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View values_view;
  uint elements;
  uint cols;
  uint capacity;
  uint table_offset;
  uint ids_offset;
  uint id_words;
  Param position;
  uint window;
};

#define IDS(i) ids[i]
#include "ids.glsl"

// The table row of row r of values; false if it is outside the table.
bool target_row(uint r, out uint row) {
  if (id_words != 0u) {
    return load_id(ids_offset + r * id_words, id_words, capacity, row);
  }
  row = param_bits(position) + r;
  // The sum wraps for negative positions; it is in range again from row -position on.
  bool negative = param_int(position) < 0 && r < uint(-param_int(position));
  row = window > 0u ? row % window : row;
  return !negative && row < capacity;
}

void main() {
  uint i = linear_index();
  if (i >= elements) {
    return;
  }
  uint row;
  if (target_row(i / cols, row)) {
    store(table_offset + row * cols + i % cols, values[at(values_view, unflatten(i, shape))]);
  }
}
