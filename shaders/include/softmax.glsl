// y = exp(v - max v) / sum of v = x * scale + mask * slope, or its logarithm. Reads a row of x and of
// the mask three times (from a cache but for the first), writes y once. Include row.glsl or
// row_group.glsl first.
#define STATE_BINDING 4
#include "exp.glsl"
#include "f16.glsl"
#include "float_key.glsl"
#include "state.glsl"
#include "view.glsl"

#if defined(VARIANT_LOG_SOFTMAX_F16) || defined(VARIANT_SOFTMAX_F16)
#define MASK uint16_t
#define MASK_FLOAT(m) uintBitsToFloat(f16_to_f32_bits(uint(m)))
#else
#define MASK float
#define MASK_FLOAT(m) (m)
#endif
#if defined(VARIANT_LOG_SOFTMAX_F32) || defined(VARIANT_LOG_SOFTMAX_F16)
const bool kLogarithm = true;
#else
const bool kLogarithm = false;
#endif

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer M { MASK mask[]; };
layout(binding = 2) readonly buffer S { float sinks[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint shape[4];
  View xv;
  View mv;
  uint mask_shape[2];
  Param scale;
  Param max_bias;
  uint sinks_offset;
  uint given;  // bit 0: mask, bit 1: sinks
};

uint from;
uint mask_from;
float factor;
float slope;

float value(uint c) {
  precise float v = x[from + c] * factor;
  if ((given & 1u) != 0u) {
    precise float added = slope * MASK_FLOAT(mask[mask_from + c]);
    v = v + added;
  }
  return v;
}

float slope_of(uint head, uint heads) {
  if (!(param_float(max_bias) > 0.0)) {
    return 1.0;
  }
  uint below = 1u << findMSB(heads);
  float steps = float(head < below ? 2u * (head + 1u) : 2u * (head - below) + 1u);
  float slope = exp_f32(-param_float(max_bias) * (0.34657359 * steps) / float(below));  // ln 2 / 2
  return max(slope, 1.17549435e-38);  // 0 would make NaN of what a mask hides
}

// For numbers from 1 on. A step of Newton's: Vulkan's log may be off by 2^-21.
float log_f32(float v) {
  float guess = log(v);
  return guess + (v * exp_f32(-guess) - 1.0);
}

void main() {
  uint row = row_index();
  if (row >= row_count(shape)) {
    return;
  }
  uint cols = shape[3];
  uvec4 p = row_position(row, shape);
  from = at(xv, p);
  mask_from = (given & 1u) != 0u
                  ? at(mv, uvec4(p.x % mask_shape[0], p.y % mask_shape[1], p.z, 0u))
                  : 0u;
  factor = param_float(scale);
  slope = slope_of(p.y, shape[1]);
  uint key = 0u;
  EACH_COLUMN(c, cols) { key = max(key, key_below_nan(floatBitsToUint(value(c)))); }
  key = row_max(key);
  bool has_sink = (given & 2u) != 0u;
  float sink = has_sink ? sinks[sinks_offset + p.y] : 0.0;
  if (has_sink) {
    key = max(key, key_below_nan(floatBitsToUint(sink)));
  }
  // Of a largest value that is NaN or infinite no share is a number.
  bool lost = key >= 0xFF800000u || key <= 0x007FFFFFu;
  float largest = uintBitsToFloat(bits_of_key(key));
  float sums[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  EACH_COLUMN(c, cols) { sums[part] += exp_f32(value(c) - largest); }
  float sum = row_sum(sums) + (has_sink ? exp_f32(sink - largest) : 0.0);
  float lowered = kLogarithm ? log_f32(sum) : 0.0;
  EACH_COLUMN(c, cols) {
    float below = value(c) - largest;
    float share = kLogarithm ? below - lowered : exp_f32(below) / sum;
    y[row * cols + c] = lost ? uintBitsToFloat(0x7FC00000u) : share;
  }
}
