// A product, portable: one invocation multiplies TILE rows of x with one row of weights.
// Per 4 columns it reads TILE * 16 bytes of x and 16 (f32), 8 (f16), 4.25 (q8_0) or 2.25 (q4_0)
// bytes of weights for TILE * 4 products; of other blocks some words more than once. Weights are decoded to f32. The order of additions does
// not depend on TILE or the format, so every tile gives the same bits, and a format those of its
// decoded weights: explicit fma, four sums by column modulo 4.
// Define first: TILE; the buffer `x` with `View xv`; `uint shape[4]`, of the products, and `uint
// k`; WEIGHT_AT(i), element i of the weights as float, or word i if they are BLOCKS; WEIGHTS_BEGIN,
// where they begin; row_of_weights() for a place of the products, and store() there. Where matrices
// of weights may be absent, SOME_ABSENT: is_bound() for the leading indices of a place, and
// store_absent() there.
#ifndef BLOCKS
// Columns that are read at once, in fours.
const uint kFours = 1;
void load_weights(uint element, out vec4 values[kFours]) {
  uint e = WEIGHTS_BEGIN + element;
  values[0] = vec4(WEIGHT_AT(e), WEIGHT_AT(e + 1u), WEIGHT_AT(e + 2u), WEIGHT_AT(e + 3u));
}
float load_weight(uint element) { return WEIGHT_AT(WEIGHTS_BEGIN + element); }
#else
#define BLOCK_WORD(i) WEIGHT_AT(i)
#include "blocks.glsl"
#ifdef STREAMED_BLOCKS
const uint kFours = 8;
void load_weights(uint element, out vec4 values[kFours]) {
  load_block(block_of(WEIGHTS_BEGIN, element), values);
}
#else
const uint kFours = 4;
void load_weights(uint element, out vec4 values[kFours]) {
  load_part(block_of(WEIGHTS_BEGIN, element), element % kBlockElements / 16u, values);
}
#endif
float load_weight(uint element) { return 0.0; }  // a row has whole blocks
#endif

void main() {
  uint index = linear_index();
  uint tiles = (shape[2] + TILE - 1u) / TILE;
  uint column = index % shape[3];
  uint rest = index / shape[3];
  uint first = rest % tiles * TILE;
  rest /= tiles;
  uint i1 = rest % shape[1];
  uint i0 = rest / shape[1];
  if (i0 >= shape[0]) {
    return;
  }
#ifdef SOME_ABSENT
  if (!is_bound(i0, i1)) {
    store_absent(uvec4(i0, i1, first, column));
    return;
  }
#endif
  uint weight = row_of_weights(i0, i1, column);
  uint from[TILE];
  vec4 sums[TILE];
  for (uint r = 0; r < TILE; ++r) {
    from[r] = at(xv, uvec4(i0, i1, min(first + r, shape[2] - 1u), 0));
    sums[r] = vec4(0.0);
  }
  uint whole = k - k % (4u * kFours);
  for (uint c = 0; c < whole; c += 4u * kFours) {
    vec4 b[kFours];
    load_weights(weight + c, b);
    for (uint i = 0; i < kFours; ++i) {
      for (uint r = 0; r < TILE; ++r) {
        uint e = from[r] + c + 4u * i;
        sums[r] = fma(vec4(x[e], x[e + 1u], x[e + 2u], x[e + 3u]), b[i], sums[r]);
      }
    }
  }
  for (uint c = whole; c < k; ++c) {
    float b = load_weight(weight + c);
    for (uint r = 0; r < TILE; ++r) {
      sums[r].x = fma(x[from[r] + c], b, sums[r].x);
    }
  }
  for (uint r = 0; r < TILE; ++r) {
    if (first + r < shape[2]) {
      store(uvec4(i0, i1, first + r, column),
            (sums[r].x + sums[r].y) + (sums[r].z + sums[r].w));
    }
  }
}
