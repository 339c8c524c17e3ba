// y = x * w^T + residual for GPUs, in f32; weights are decoded to f32 on the way. See framework/ops/
// matmul_gpu.cpp for how the sizes are chosen.
//
// vector: up to 8 rows of x, see include/matmul_vector.glsl.
//
// tile: more rows. A workgroup of 16 x 8 invocations computes 64 columns of y for 8 * ROWS rows, 32
// of k at a time from shared memory. Per 4 of k an invocation reads 4 + ROWS vectors of 16 bytes
// there for 16 * ROWS products; of global memory the workgroup reads 1 weight per 8 * ROWS products.
// Where there are few tiles, PARTS such groups of invocations share the columns of k of each, 32 in
// turn, with tiles of their own; the first one adds up their sums.
//
// variants: vector/f32 vector/f16 vector/bf16 vector/q8_0 vector/q4_0 vector/q4_1 vector/q5_0 vector/q5_1 vector/q4_K vector/q5_K vector/q6_K vector/q2_K vector/q3_K vector/iq4_nl vector/iq4_xs tile/f32 tile/f16 tile/bf16 tile/q8_0 tile/q4_0 tile/q4_1 tile/q5_0 tile/q5_1 tile/q4_K tile/q5_K tile/q6_K tile/q2_K tile/q3_K tile/iq4_nl tile/iq4_xs
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(VARIANT_F32) || defined(VARIANT_F16) || defined(VARIANT_BF16)
#define WEIGHT uvec4
#else
#define WEIGHT uint
#endif
#ifdef VARIANT_VECTOR
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "index.glsl"
#include "group.glsl"
#include "view.glsl"

layout(binding = 0) readonly buffer X { vec4 x[]; };
layout(binding = 1) readonly buffer W { WEIGHT w[]; };
layout(binding = 2) readonly buffer Residual { float residual[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View wv;
  View yv;
  uint share[2];
  uint k;
  uint adds;
  uint residual_offset;
};
#include "residual.glsl"

uint matrix_of_weights(uint i0, uint i1) {
  return distance_to(wv, uvec4(i0 / share[0], i1 / share[1], 0, 0));
}
#include "product_units.glsl"

#ifdef VARIANT_VECTOR
#include "matmul_vector.glsl"
#else
layout(constant_id = 3) const uint PARTS = 1;

const uint kAcross = 16u;        // invocations side by side, along columns of y
const uint kDown = 8u;           // and along its rows
const uint kColumns = 4u;        // of an invocation, kAcross apart; its rows are kDown apart
const uint kFours = 8u;          // of k at a time
const uint kRowUnits = 4u * kFours / kUnit;
const uint kTileColumns = kAcross * kColumns;
const uint kTileRows = kDown * ROWS;
const uint kOfPart = kAcross * kDown;  // invocations

// Rows of kFours. Eight rows at the same four would be in the same banks, so row r has its fours in
// the order i ^ (r % 8): 8 invocations that read or write 16 bytes each then touch 32 banks.
shared vec4 w_tile[PARTS * kTileColumns * kFours];
shared vec4 x_tile[PARTS * kTileRows * kFours];
uint in_tile(uint row, uint four) { return row * kFours + (four ^ (row & 7u)); }

void main() {
  // Neighbours have the same weights, the larger part of what is read.
  uint first_row = gl_WorkGroupID.x * kTileRows;
  uint first_column = gl_WorkGroupID.y * kTileColumns;
  uint i1 = gl_WorkGroupID.z % shape[1];
  uint i0 = gl_WorkGroupID.z / shape[1];
  uint w_matrix = matrix_of_weights(i0, i1);
  uint x_matrix = at(xv, uvec4(i0, i1, 0, 0));
  uint part = gl_LocalInvocationID.x / kOfPart;
  uint invocation = gl_LocalInvocationID.x % kOfPart;
  uint across = invocation % kAcross;
  uint down = invocation / kAcross;
  uint of_w = part * kTileColumns * kFours;
  uint of_x = part * kTileRows * kFours;
  float sums[ROWS][kColumns];
  for (uint r = 0; r < ROWS; ++r) {
    for (uint c = 0; c < kColumns; ++c) {
      sums[r][c] = 0.0;
    }
  }
  for (uint turn = 0; turn < k; turn += 4u * kFours * PARTS) {
    uint from = turn + 4u * kFours * part;  // beyond k all is 0
    for (uint u = invocation; u < kTileColumns * kRowUnits; u += kOfPart) {
      uint row = u / kRowUnits;
      uint unit = u % kRowUnits;
      vec4 weights[kUnitFours];
      float scale = 0.0;
      if (from + unit_column(unit, 0) < k) {
        scale = load_unit(row_of_w(w_matrix, first_column + row), from / kUnit + unit, weights);
      } else {
        for (uint i = 0; i < kUnitFours; ++i) {
          weights[i] = vec4(0.0);
        }
      }
      for (uint i = 0; i < kUnitFours; ++i) {
        w_tile[of_w + in_tile(row, unit_column(unit, i) / 4u)] = scale * weights[i];
      }
    }
    for (uint f = invocation; f < kTileRows * kFours; f += kOfPart) {
      uint row = f / kFours;
      uint four = f % kFours;
      x_tile[of_x + in_tile(row, four)] = load_x(row_of_x(x_matrix, first_row + row), from + 4u * four);
    }
    barrier();
    for (uint four = 0; four < kFours; ++four) {
      vec4 b[kColumns];
      for (uint c = 0; c < kColumns; ++c) {
        b[c] = w_tile[of_w + in_tile(across + c * kAcross, four)];
      }
      for (uint r = 0; r < ROWS; ++r) {
        vec4 a = x_tile[of_x + in_tile(down + r * kDown, four)];
        for (uint c = 0; c < kColumns; ++c) {
          sums[r][c] = add_products(a, b[c], sums[r][c]);
        }
      }
    }
    barrier();
  }
  if (PARTS > 1u) {
    for (uint r = 0; r < ROWS; ++r) {  // a tile of w has room for the sums of 4 rows
      w_tile[of_w + r * kOfPart + invocation] =
          vec4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    }
    barrier();
    if (part != 0u) {
      return;
    }
    for (uint p = 1u; p < PARTS; ++p) {
      for (uint r = 0; r < ROWS; ++r) {
        vec4 others = w_tile[p * kTileColumns * kFours + r * kOfPart + invocation];
        for (uint c = 0; c < kColumns; ++c) {
          sums[r][c] += others[c];
        }
      }
    }
  }
  for (uint r = 0; r < ROWS; ++r) {
    for (uint c = 0; c < kColumns; ++c) {
      uint row = first_row + down + r * kDown;
      uint column = first_column + across + c * kAcross;
      if (row < shape[2] && column < shape[3]) {
        store(uvec4(i0, i1, row, column), sums[r][c]);
      }
    }
  }
}
#endif
