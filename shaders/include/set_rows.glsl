// What the set_rows kernels share: which row of the table a row of values goes to. Define
// STATE_BINDING and declare `ids` as binding 2 first.
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

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
  Param window;
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
  int ring = param_int(window);
  if (ring > 0) {
    // The row after a full turn takes its place.
    if (r + uint(ring) < elements / cols) {
      return false;
    }
    row %= uint(ring);
  }
  return !negative && row < capacity;
}
