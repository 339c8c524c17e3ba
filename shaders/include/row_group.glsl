// A workgroup per row whose invocations take neighbouring elements, for bodies that run with
// row.glsl too. All invocations call what is here. Include index.glsl and group.glsl first.
#include "row_position.glsl"

// Runs the block after it for every column `c` of this invocation; `part` counts the eight of a
// turn, whose loads do not wait for each other.
#define EACH_COLUMN(c, cols)                                                                   \
  for (uint turn = gl_LocalInvocationID.x; turn < (cols); turn += 8u * gl_WorkGroupSize.x)     \
    [[unroll]] for (uint part = 0u, c = turn; part < 8u; ++part, c += gl_WorkGroupSize.x)      \
      if (c < (cols))

shared float row_sums[kMostSubgroups];
shared uint row_maxima[kMostSubgroups];

uint row_index() { return group_index(); }

// Whether this invocation writes what a row has once.
bool row_writer() { return gl_LocalInvocationID.x == 0u; }

float row_sum(float sums[8]) {
  float part = subgroupAdd(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                           ((sums[4] + sums[5]) + (sums[6] + sums[7])));
  barrier();  // the sum before this one has been read
  if (subgroupElect()) {
    row_sums[gl_SubgroupID] = part;
  }
  barrier();
  float sum = 0.0;
  for (uint i = 0u; i < gl_NumSubgroups; ++i) {
    sum += row_sums[i];
  }
  return sum;
}

uint row_max(uint value) {
  uint part = subgroupMax(value);
  barrier();
  if (subgroupElect()) {
    row_maxima[gl_SubgroupID] = part;
  }
  barrier();
  uint largest = 0u;
  for (uint i = 0u; i < gl_NumSubgroups; ++i) {
    largest = max(largest, row_maxima[i]);
  }
  return largest;
}
