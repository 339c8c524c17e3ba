// Patches of carried fields, then the rows of the table in order, then the grids of this iteration:
// one invocation in all. Reads 12 words per row, and 9 per grid. The expression mirrors evaluate()
// of core/state_expression.h, a grid live_grid() of core/step.h.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"

layout(binding = 0) buffer State { int state[]; };
layout(binding = 1) buffer Patch { int patches[]; };
layout(binding = 2) readonly buffer Table { int table[]; };
layout(binding = 3) buffer Iteration { int iteration[]; };
layout(push_constant) uniform Push {
  int carried_first;
  int carried_count;
  int row_count;
  int stop_word;
  uint words;
  uint state_offset;
  uint patch_offset;
  uint table_offset;
  uint iteration_offset;
  uint grids;
};

int field(int index) {
  return uint(index) < words ? state[state_offset + uint(index)] : 0;
}

// Unsigned division: that of negative numbers differs between drivers.
int ceil_divide(int value, int divisor) {
  uint d = uint(max(divisor, 1));
  return value > 0 ? int((uint(value) - 1u) / d + 1u) : -int((0u - uint(value)) / d);
}

const uint kFixed = 0xFFFFFFFFu;
const uint kMaxGroups = 65535u;
const uint kRowWords = 12u;
uint row_of_grid(uint r) { return iteration_offset + 4u + kRowWords * r; }
uint rows_of(uint word) { return uint(max(field(int(word)), 0)); }
uint ceil_div(uint value, uint divisor) { return value == 0u ? 0u : (value - 1u) / divisor + 1u; }

uvec3 live_grid(uint at) {
  uvec3 grid = uvec3(iteration[at], iteration[at + 1u], iteration[at + 2u]);
  uint word = uint(iteration[at + 3u]);
  uint units = uint(iteration[at + 9u]);
  if (word == kFixed || units == 0u) {
    return grid;
  }
  uint tiles = ceil_div(rows_of(word), max(uint(iteration[at + 8u]), 1u));
  uint live = ceil_div(tiles * units, max(uint(iteration[at + 10u]), 1u));
  uint axis = min(uint(iteration[at + 11u]), 2u);
  if (axis == 0u && grid.x == kMaxGroups) {
    live = min(live, kMaxGroups * grid.y);
    return uvec3(min(live, kMaxGroups), ceil_div(live, kMaxGroups), grid.z);
  }
  grid[axis] = min(live, grid[axis]);
  return grid;
}

void main() {
  if (linear_index() != 0) {
    return;
  }
  if (grids != 0u && iteration[iteration_offset + 3u] != 0) {
    return;  // one before this stopped, and is to be gone on with: see expert_check
  }
  uint mask = uint(patches[patch_offset]);
  for (int i = 0; i < carried_count; ++i) {
    if (((mask >> i) & 1u) != 0u) {
      state[state_offset + uint(carried_first + i)] = patches[patch_offset + 1u + uint(i)];
    }
  }
  patches[patch_offset] = 0;
  bool runs = true;
  for (int r = 0; r < row_count; ++r) {
    uint e = table_offset + 12u * uint(r);
    uint target = uint(table[e]);
    if (target < words) {
      int sum = table[e + 3u] * field(table[e + 1u]) + table[e + 4u] * field(table[e + 2u]) +
                table[e + 5u];
      int value = ceil_divide(sum, table[e + 6u]);
      value = min(max(value, table[e + 7u]), table[e + 8u]);
      state[state_offset + target] = value;
      runs = runs && table[e + 9u] <= value && value <= table[e + 10u];
    }
  }
  if (grids == 0u) {
    return;
  }
  runs = runs && (stop_word < 0 || state[state_offset + uint(stop_word)] == 0);
  uint rows = min(uint(iteration[iteration_offset + 2u]), grids);
  for (uint r = 0u; r < rows; ++r) {
    uint word = uint(iteration[row_of_grid(r) + 3u]);
    runs = runs && (word == kFixed || rows_of(word) > 0u);
  }
  iteration[iteration_offset] += runs ? 1 : 0;
  iteration[iteration_offset + 1u] = runs ? 1 : 0;
  for (uint r = 0u; r < rows; ++r) {
    uint at = row_of_grid(r);
    uvec3 grid = runs ? live_grid(at) : uvec3(0u);
    for (uint i = 0u; i < 3u; ++i) {
      iteration[at + 4u + i] = int(grid[i]);
    }
  }
}
