// The columns of each row, sorted by their elements: a workgroup sorts a row in the result itself.
// Bitonic merging whose comparisons all point the same way, so that a row of any length is the
// beginning of one of 2^n columns whose others are larger and never move. A comparison reads two ids
// and the two elements they name, an exchange writes two ids. No operation of subgroups: every
// device runs it.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "float_key.glsl"
#include "index.glsl"
#include "group.glsl"
#include "row_position.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) coherent buffer Ids { uint ids[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  uint descending;
};

const uint kExchanges = 4u;  // of an invocation per turn: llvmpipe ends loops after 65,535 turns

uint from;
uint to;

bool before(uint a, uint b) {
  uint key_a = key_of(x[from + a * xv.strides[3]]);
  uint key_b = key_of(x[from + b * xv.strides[3]]);
  return key_a == key_b ? a < b : (key_a < key_b) != (descending != 0u);
}

void exchange(uint low, uint high) {
  uint a = ids[to + low];
  uint b = ids[to + high];
  if (before(b, a)) {
    ids[to + low] = b;
    ids[to + high] = a;
  }
}

void finish_round() {
  memoryBarrierBuffer();
  barrier();
}

// One round over the whole row. In blocks of 2 * gap columns, each of the first half meets the one
// `gap` further, or, where runs of gap columns are merged first, the one as far from the other end.
void compare_all(uint pairs, uint gap, bool merges) {
  for (uint first = gl_LocalInvocationID.x; first < pairs; first += kExchanges * gl_WorkGroupSize.x) {
    [[unroll]] for (uint i = 0u; i < kExchanges; ++i) {
      uint pair = first + i * gl_WorkGroupSize.x;
      uint place = pair & (gap - 1u);
      uint block = (pair - place) * 2u;
      uint high = block + (merges ? 2u * gap - 1u - place : gap + place);
      if (high < shape[3]) {
        exchange(block + place, high);
      }
    }
  }
  finish_round();
}

void main() {
  uint row = group_index();
  if (row >= row_count(shape)) {
    return;
  }
  uint cols = shape[3];
  from = at(xv, row_position(row, shape));
  to = row * cols;
  for (uint c = gl_LocalInvocationID.x; c < cols; c += gl_WorkGroupSize.x) {
    ids[to + c] = c;
  }
  finish_round();
  uint pairs = cols > 1u ? 1u << findMSB(cols - 1u) : 0u;
  for (uint half_run = 1u; half_run <= pairs; half_run *= 2u) {
    compare_all(pairs, half_run, true);
    for (uint gap = half_run / 2u; gap > 0u; gap /= 2u) {
      compare_all(pairs, gap, false);
    }
  }
}
