// What the kernels of attention share: the push block, which keys a row sees, and how the product of
// a query and a key becomes a score. Define STATE_BINDING as 6 and FEATURES, and include exp.glsl,
// state.glsl and index.glsl first; bind `sinks`, and define load_mask().
// FEATURES is a specialization constant: software drivers run both sides of a branch.
#include "nan.glsl"
// Distances in elements between rows and heads; elements of a head are neighbours. The offset of
// blocks counts units of 16 bits.
struct Heads {
  uint offset;
  uint row;
  uint head;
};

layout(push_constant) uniform Push {
  Heads qv;
  Heads kv;
  Heads vv;
  uint mask_offset;
  uint mask_stride;
  uint mask_columns;
  Param row_count;
  uint heads;
  uint share;
  uint dim;
  uint value_dim;
  Param capacity;
  Param kv_len;  // or past
  Param scale;
  Param softcap;
  Param max_bias;
  Param window;
  uint sinks_offset;
  uint flags;
};

const bool kIsCapped = (FEATURES & 1u) != 0u;
const bool kIsBiased = (FEATURES & 2u) != 0u;
const bool kIsMasked = (FEATURES & 4u) != 0u;
const uint kCausal = 1u, kSinks = 2u, kHasPast = 4u;
const uint kMinusInfinity = 0xFF800000u;

uint rows;  // of q: set it first

// True if the mask lets a row see a key; `value` is what it has there.
bool load_mask(uint row, uint key, out float value);

uint distance_in(Heads v, uint row, uint head) { return row * v.row + head * v.head; }
uint place_in(Heads v, uint row, uint head) { return v.offset + distance_in(v, row, head); }

int keys_used() {
  int most = param_int(capacity);
  int given = param_int(kv_len);
  // The sum is at most `most`: it does not overflow.
  int used = (flags & kHasPast) != 0u ? min(given, most - int(rows)) + int(rows) : given;
  return clamp(used, 0, most);
}
// Where a row stands among the keys.
int place_of(uint row) { return keys_used() - int(rows) + int(row); }

// Keys from this one on may be seen by a row.
uint first_seen(uint row) {
  int wide = param_int(window);
  int place = place_of(row);
  return wide > 0 && place >= wide ? uint(place - wide) + 1u : 0u;
}

// Keys before this one may be seen by a row.
uint seen_by(uint row) {
  int used = keys_used();
  int seen = (flags & kCausal) != 0u ? clamp(place_of(row) + 1, 0, used) : used;
  return uint(kIsMasked ? min(seen, int(mask_columns)) : seen);
}

// 0 unless it is a positive normal number.
float usable(float value) {
  uint exponent = floatBitsToUint(value) >> 23;
  return exponent > 0u && exponent < 255u ? value : 0.0;
}

// tanh() good to 2 roundings. Cephes tanhf (S. Moshier); NaN stays NaN.
float tanh_of(float x) {
  float size = abs(x);
  if (size < 0.625) {
    float z = x * x;
    float p = -5.70498872745e-3;
    p = p * z + 2.06390887954e-2;
    p = p * z - 5.37397155531e-2;
    p = p * z + 1.33314422036e-1;
    p = p * z - 3.33332819422e-1;
    return p * z * x + x;
  }
  float y = 1.0 - 2.0 / (exp_f32(2.0 * size) + 1.0);
  return x < 0.0 ? -y : y;
}

// 2^-x for x of at least 0.
float exp2_of_minus(float x) {
  float whole = min(floor(x), 126.0);
  return exp_f32((whole - x) * 0.69314718) * uintBitsToFloat((127u - uint(whole)) << 23);
}

const float kSmallestSlope = 1.17549435e-38;

struct Scoring {
  float factor;
  float cap;    // 0: none
  float slope;  // of the bias; 0: no ALiBi
};

Scoring scoring_of(uint head) {
  Scoring s = Scoring(param_float_or_value(scale), 0.0, 0.0);
  if ((flags & kSinks) != 0u && is_nan(sinks[sinks_offset + head])) {
    s.factor = make_nan();  // every key that counts makes NaN of its row
  }
  if (kIsCapped) {
    s.cap = usable(param_float(softcap));
  }
  float bias = usable(param_float(max_bias));
  if (kIsBiased && bias > 0.0) {
    uint even = 1u << findMSB(heads);
    float turn = head < even ? float(head + 1u) : float(head - even) + 0.5;
    // Never 0, which stands for none.
    s.slope = max(exp2_of_minus(bias * turn / float(even)), kSmallestSlope);
  }
  return s;
}

// What a row begins with: the sink of its head counts as a key without a value. See scoring_of for
// one that is NaN.
void begin_row(uint head, float none, out float best, out float total) {
  best = none;
  total = 0.0;
  if ((flags & kSinks) != 0u) {
    float sink = sinks[sinks_offset + head];
    if (!is_nan(sink) && floatBitsToUint(sink) != kMinusInfinity) {
      best = sink;
      total = 1.0;
    }
  }
}

// Makes a score of a product; false if the key does not count for the row: it is masked, or its
// score is -infinity. An infinite score makes
// NaN of its row, as the difference of two of them does.
bool finish_score(Scoring of, uint row, uint key, inout float s) {
  precise float scaled = s * of.factor;  // alike with all features
  s = scaled;
  if (kIsCapped && of.cap > 0.0) {
    s = of.cap * tanh_of(s / of.cap);
  }
  if (kIsMasked) {
    float added;
    if (!load_mask(row, key, added)) {
      return false;
    }
    s = fma(of.slope > 0.0 ? of.slope : 1.0, added, s);
  } else if (kIsBiased && of.slope > 0.0) {
    s = fma(-of.slope, float(abs(place_of(row) - int(key))), s);
  }
  uint bits = floatBitsToUint(s);
  s = bits == kMinusInfinity - 0x80000000u ? make_nan() : s;
  return bits != kMinusInfinity;
}
