// ssm_conv: channels in vectors, token after token, from what the sequence had before.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ssm_conv.cpp"
#include <algorithm>
#include <array>
#include <hwy/foreach_target.h>
#include <span>

#include "backends/cpu/kernels/recurrence.h"
#include "backends/cpu/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kMaxTaps = 16;  // wider ones run the reference
// Of an item: tokens lie apart, and one line of memory of each would be fetched alone.
constexpr std::int64_t kVectors = 4;

struct Conv {
  Recurrence sequences;
  TokenOperand x, y;
  const float* weights;
  const float* bias;  // may be null
  std::int64_t channels, width, blocks;
};

/// A vector of channels of a sequence: taps, and what came before.
struct Channels {
  std::int64_t first, count;
  HWY_ALIGN float taps[kMaxTaps][kLanes];
  HWY_ALIGN float before[kMaxTaps][kLanes];
};

/// `state` null: nothing came before.
void take(const Conv& a, const float* state, Channels& channels) {
  for (std::int64_t c = 0; c < channels.count; ++c) {
    const std::int64_t channel = channels.first + c;
    for (std::int64_t k = 0; k < a.width; ++k) {
      channels.taps[k][c] = a.weights[channel * a.width + k];
    }
    for (std::int64_t i = 0; i + 1 < a.width; ++i) {
      channels.before[i][c] = state == nullptr ? 0 : state[channel * (a.width - 1) + i];
    }
  }
}

/// Tokens are counted from the first that came before the sequence.
HWY_INLINE Vf input(const Conv& a, std::int64_t s, std::int64_t token, const Channels& channels) {
  const F32 f;
  const std::int64_t before = a.width - 1;
  return token < before ? hn::Load(f, channels.before[token])
                        : load_up_to(f, a.x.at(s, token - before, channels.first),
                                     static_cast<std::size_t>(channels.count));
}

void convolve(const Conv& a, std::int64_t s, std::int64_t t, const Channels& channels) {
  const F32 f;
  const auto count = static_cast<std::size_t>(channels.count);
  Vf sum = a.bias == nullptr ? hn::Zero(f) : load_up_to(f, a.bias + channels.first, count);
  for (std::int64_t k = 0; k < a.width; ++k) {
    sum = hn::MulAdd(input(a, s, t + k, channels), hn::Load(f, channels.taps[k]), sum);
  }
  store_up_to(f, sum, a.y.at(s, t, channels.first), count);
}

/// The last tokens are what comes before the next call.
void keep(const Conv& a, std::int64_t s, const Channels& channels, float* state) {
  const F32 f;
  for (std::int64_t i = 0; i + 1 < a.width; ++i) {
    HWY_ALIGN float last[kLanes];
    hn::Store(input(a, s, a.sequences.tokens + i, channels), f, last);
    for (std::int64_t c = 0; c < channels.count; ++c) {
      state[(channels.first + c) * (a.width - 1) + i] = last[c];
    }
  }
}

/// Items are blocks of channels of the first sequence, then of the second...
void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Conv>();
  const bool begins = work.value(a.sequences.past) <= 0;
  constexpr auto kWidth = static_cast<std::int64_t>(kLanes);
  for (std::int64_t item = first; item < end; ++item) {
    const std::int64_t s = item / a.blocks;
    const std::int64_t from = item % a.blocks * kVectors * kWidth;
    const std::int64_t to = std::min(from + kVectors * kWidth, a.channels);
    float* const state = a.sequences.row_of(s);
    if (state == nullptr) {
      leave_out(a.sequences, a.y, s, from, to - from);
      continue;
    }
    std::array<Channels, kVectors> vectors;
    const std::int64_t used = (to - from + kWidth - 1) / kWidth;
    for (std::int64_t v = 0; v < used; ++v) {
      Channels& channels = vectors[static_cast<std::size_t>(v)];
      channels.first = from + v * kWidth;
      channels.count = std::min(kWidth, to - channels.first);
      take(a, begins ? nullptr : state, channels);
    }
    const std::span<const Channels> all(vectors.data(), static_cast<std::size_t>(used));
    for (std::int64_t t = 0; t < a.sequences.tokens; ++t) {
      for (const Channels& channels : all) {
        convolve(a, s, t, channels);
      }
    }
    for (const Channels& channels : all) {
      if (a.sequences.tokens > 0) {
        keep(a, s, channels, state);
      }
    }
  }
}

}  // namespace

bool plan_ssm_conv(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& x = call.tensors[1];
  const Shape& weights = call.tensors[2].shape();
  if (weights.back() > kMaxTaps || x.spec->strides[x.shape().rank() - 1] != 1) {
    return false;
  }
  const bool batched = x.shape().rank() == 3;
  const std::int64_t channels = weights.dim(0);
  constexpr std::int64_t kBlock = kVectors * static_cast<std::int64_t>(kLanes);
  const Conv arguments{.sequences = {call, x, call.tensors[4], batched},
                       .x = {x, batched, false},
                       .y = {call.tensors[5], batched, false},
                       .weights = reinterpret_cast<const float*>(call.tensors[2].data),
                       .bias = reinterpret_cast<const float*>(call.tensors[3].data),
                       .channels = channels,
                       .width = weights.back(),
                       .blocks = (channels + kBlock - 1) / kBlock};
  plan.main.run = run;
  plan.main.items = arguments.sequences.sequences * arguments.blocks;
  plan.main.item_ns =
      static_cast<double>((arguments.sequences.tokens + 16) * arguments.width * kVectors) / 2;
  plan.set_arguments(arguments);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(ssm_conv)
#endif
