// A product for drivers that run a workgroup of 8 as one vector and fetch texels as vectors, but
// read storage buffers lane by lane. Weights are decoded to f32; products of 4 neighbouring columns
// are added first (of a whole block of q8_0 and q4_0), then to the sum.
// Each invocation multiplies ROWS rows of x with COLUMNS rows of w: a fetch costs as much as 16
// products of it. SPREAD invocations have different rows of x, the others different rows of w.
// SPREAD 0: the invocations share one row of x and the rows of w, and each takes every 8th texel of
// them; neighbours read neighbouring memory, which long rows need.
// Define first: `x` and `w` as TEXELS; `View xv` and `View wv`, `uint shape[4]`, of the products,
// and `uint k`; row_of_weights() for a place of the products, and store() there. Where matrices of
// weights may be absent, SOME_ABSENT: is_bound() for the leading indices of a place, and
// store_absent() there.
layout(constant_id = 1) const uint ROWS = 1;
layout(constant_id = 2) const uint COLUMNS = 1;
layout(constant_id = 3) const uint SPREAD = 1;

// A piece of a row of w: what is decoded at once, kFours times 4 columns. row_at() is where the row
// that begins with an element lies.
#if defined(BLOCKS)
#define Piece Block
const uint kFours = 8u;
uint row_at(uint element) { return block_of(wv.offset, element); }
uint texel_of(uint block) { return block / 8u; }
Piece load_piece(uint row, uint piece) { return block_at(w, row + piece * kBlockHalves); }
vec4 four(Piece piece, uint i) {
#if defined(VARIANT_Q8_0)
  return signed_bytes(piece.words[i]);
#else
  return nibbles(piece.words[i % 4u] >> i / 4u * 4u);
#endif
}
#elif !defined(PLAIN_WEIGHTS)
// A part of a block, whose integers are read when they are used.
#define BLOCK_WORD(i) words_at(w, (i) >> 2)[(i) & 3u]
#include "blocks.glsl"
struct Piece {
  uint block;
  uint part;
  vec2 scale;
};
const uint kFours = 4u;
uint row_at(uint element) { return block_of(wv.offset, element); }
Piece load_piece(uint row, uint piece) {
  const uint kParts = kBlockElements / 16u;
  uint block = row + piece / kParts * kBlockHalves;
  uint part = piece % kParts;
  return Piece(block, part, part_scale(block, part));
}
vec4 four(Piece piece, uint i) {
  return scaled(piece.scale, four_integers(piece.block, piece.part * 4u + i));
}
#else
#define Piece uvec4
#if defined(VARIANT_F32)
const uint kFours = 1u;
#else
const uint kFours = 2u;
#endif
uint row_at(uint element) { return (wv.offset + element) / (4u * kFours); }
Piece load_piece(uint row, uint piece) { return words_at(w, row + piece); }
vec4 four(Piece piece, uint i) {
#if defined(VARIANT_F32)
  return uintBitsToFloat(piece);
#elif defined(VARIANT_BF16)
  uvec2 pairs = uvec2(piece[2u * i], piece[2u * i + 1u]);
  return uintBitsToFloat(uvec4(pairs.x << 16, pairs.x & 0xFFFF0000u, pairs.y << 16,
                               pairs.y & 0xFFFF0000u));
#else
  return vec4(unpackHalf2x16(piece[2u * i]), unpackHalf2x16(piece[2u * i + 1u]));
#endif
}
#endif

const uint kLanes = 8u;
const uint kSums = ROWS * COLUMNS;

float product(vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, a.x * b.x))); }

// Adds the products of one piece to `sums`, those of a row of x after those of the row before.
void add_piece(uint piece, uint rows[ROWS], uint columns[COLUMNS], inout float sums[kSums]) {
  Piece pieces[COLUMNS];
  [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
    pieces[b] = load_piece(columns[b], piece);
  }
#ifdef BLOCKS
  float parts[kSums];
  [[unroll]] for (uint i = 0; i < kSums; ++i) {
    parts[i] = 0.0;
  }
#else
#define parts sums
#endif
  [[unroll]] for (uint i = 0; i < kFours; ++i) {
    vec4 weights[COLUMNS];
    [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
      weights[b] = four(pieces[b], i);
    }
    [[unroll]] for (uint a = 0; a < ROWS; ++a) {
      vec4 values = floats_at(x, rows[a] + piece * kFours + i);
      [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
        parts[a * COLUMNS + b] += product(values, weights[b]);
      }
    }
  }
#ifdef BLOCKS
  [[unroll]] for (uint i = 0; i < kSums; ++i) {
    sums[i] = fma(parts[i], pieces[i % COLUMNS].scale, sums[i]);
  }
#endif
}

#ifdef BLOCKS
// Reads a word of every cache line of rows of w, in the order of memory: the products need them
// from many rows at a time, which no hardware prefetcher follows, and would wait for each.
uint touch(uint i0, uint i1, uint first, uint count, uint lane) {
  const uint kLineTexels = 4u;
  uint touched = 0u;
  for (uint i = 0; i < count; ++i) {
    uint column = min(first + i, shape[3] - 1u);
    uint from = row_of_weights(i0, i1, column);
    uint end = texel_of(row_at(from + k - 1u)) + 1u;
    uint texel = texel_of(row_at(from)) / kLineTexels * kLineTexels + lane * kLineTexels;
    for (; texel < end; texel += kLanes * kLineTexels) {
      touched |= words_at(w, texel).x;
    }
  }
  return touched;
}
#endif

#ifdef SOME_ABSENT
// Of this invocation: rows and columns that far apart.
void store_all_absent(uvec4 first, uint row_lanes, uint column_lanes) {
  for (uint a = 0; a < ROWS; ++a) {
    for (uint b = 0; b < COLUMNS; ++b) {
      uvec4 p = first + uvec4(0, 0, a * row_lanes, b * column_lanes);
      if (p.z < shape[2] && p.w < shape[3]) {
        store_absent(p);
      }
    }
  }
}
#endif

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint row_lanes = max(SPREAD, 1u);
  uint column_lanes = SPREAD == 0u ? 1u : kLanes / row_lanes;
  uint tile = gl_WorkGroupID.x;
  uint group = gl_WorkGroupID.y;
  uint i1 = gl_WorkGroupID.z % shape[1];
  uint i0 = gl_WorkGroupID.z / shape[1];
  // Of this invocation: every row_lanes-th row of the tile and column_lanes-th of the group.
  uint first_row = tile * ROWS * row_lanes + lane / column_lanes % row_lanes;
  uint first_column = group * COLUMNS * column_lanes + lane % column_lanes;
#ifdef SOME_ABSENT
  if (!is_bound(i0, i1)) {
    store_all_absent(uvec4(i0, i1, first_row, first_column), row_lanes, column_lanes);
    return;
  }
#endif
  uint rows[ROWS];
  uint columns[COLUMNS];
  float sums[kSums];
  [[unroll]] for (uint a = 0; a < ROWS; ++a) {
    uint row = min(first_row + a * row_lanes, shape[2] - 1u);
    rows[a] = at(xv, uvec4(i0, i1, row, 0)) / kTexelFloats;
  }
  [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
    uint column = min(first_column + b * column_lanes, shape[3] - 1u);
    columns[b] = row_at(row_of_weights(i0, i1, column));
  }
  float zero = 0.0;
#ifdef BLOCKS
  uint touched = touch(i0, i1, group * COLUMNS * column_lanes, COLUMNS * column_lanes, lane);
  zero = shape[0] == 0u ? uintBitsToFloat(touched) : 0.0;  // a use: else nothing would be read
#endif
  [[unroll]] for (uint i = 0; i < kSums; ++i) {
    sums[i] = zero;
  }
  uint pieces = k / (4u * kFours);
  if (SPREAD == 0u) {
    for (uint piece = lane; piece < pieces; piece += kLanes) {
      add_piece(piece, rows, columns, sums);
    }
    float mine = 0.0;
    [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
      float sum = subgroupAdd(sums[b]);
      mine = lane == b ? sum : mine;
    }
    if (lane < COLUMNS && first_column + lane < shape[3]) {
      store(uvec4(i0, i1, first_row, first_column + lane), mine);
    }
    return;
  }
  for (uint piece = 0; piece < pieces; ++piece) {
    add_piece(piece, rows, columns, sums);
  }
  [[unroll]] for (uint a = 0; a < ROWS; ++a) {
    [[unroll]] for (uint b = 0; b < COLUMNS; ++b) {
      uint row = first_row + a * row_lanes;
      uint column = first_column + b * column_lanes;
      if (row < shape[2] && column < shape[3]) {
        store(uvec4(i0, i1, row, column), sums[a * COLUMNS + b]);
      }
    }
  }
}
