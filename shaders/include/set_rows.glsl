// What the set_rows kernels share: which row of the table a row of values goes to. Define
// STATE_BINDING and declare `ids` as binding 2 first.
#include "index.glsl"
#include "state.glsl"
#include "view.glsl"

layout(push_constant) uniform Push {
  uint shape[4];
  View values_view;
  Param rows;
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

#define TARGET_ID_WORDS id_words
#define TARGET_ROWS param_bits(rows)
#define TARGET_POSITION position
#include "target_row.glsl"
