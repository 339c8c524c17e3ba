// One invocation per row, for bodies that run with row_group.glsl too. Include index.glsl first.
#include "row_position.glsl"

// Runs the block after it for every column `c` of this invocation; `part` counts the eight of a
// turn. By eights, which the compiler unrolls: llvmpipe ends loops after 65,535 turns, loads of one
// turn do not wait for each other, and eight sums lose less than one.
#define EACH_COLUMN(c, cols)                                                           \
  for (uint turn = 0u; turn < (cols); turn += 8u)                                      \
    [[unroll]] for (uint part = 0u, c = turn; part < 8u; ++part, ++c) if (c < (cols))

uint row_index() { return linear_index(); }

// Whether this invocation writes what a row has once.
bool row_writer() { return true; }

float row_sum(float sums[8]) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

uint row_max(uint value) { return value; }
