// sample: passes over a row for the largest logit, the last one that is kept, and the weights of
// those that are; at a temperature of 1, top_p has these already. A repetition penalty copies the
// row before.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sample.cpp"
#include <cmath>
#include <hwy/foreach_target.h>

#include "backends/cpu/kernels/nucleus-inl.h"
#include "backends/cpu/kernels/operands.h"
#include "framework/core/philox.h"

HWY_BEFORE_NAMESPACE();
namespace reprise::cpu::HWY_NAMESPACE {
namespace {

struct Sample {
  const float* logits;
  std::int64_t row;  // elements from a row to the next
  std::size_t tokens;
  const std::int32_t* recent;  // null: none
  std::int64_t recent_row;
  std::size_t recent_count;
  std::int32_t* y;
  Param<float> temperature;
  Param<std::int32_t> top_k;
  Param<float> top_p, min_p, repetition_penalty;
  Param<std::int32_t> seed, position;
};

/// What a thread needs for a row.
struct Room {
  static constexpr std::uint64_t bytes(std::size_t tokens) {
    return tokens * (2 * sizeof(Rank) + sizeof(float)) + count(tokens) * sizeof(Block);
  }
  Room(std::byte* own, std::size_t tokens)
      : ranks(reinterpret_cast<Rank*>(own), tokens),
        spare(ranks.data() + tokens, tokens),
        blocks(reinterpret_cast<Block*>(spare.data() + tokens), count(tokens)),
        logits(reinterpret_cast<float*>(blocks.data() + blocks.size()), tokens) {}
  std::span<Rank> ranks, spare;
  std::span<Block> blocks;
  std::span<float> logits;  // with their penalties

 private:
  static constexpr std::size_t count(std::size_t tokens) {
    return (tokens + Block::kTokens - 1) / Block::kTokens;
  }
};

std::span<const float> penalised(const Sample& a, std::int64_t row, const SampleFilters& filters,
                                 const Room& room) {
  const std::span logits(a.logits + row * a.row, a.tokens);
  if (filters.penalty == 1 || a.recent == nullptr) {
    return logits;
  }
  std::ranges::copy(logits, room.logits.begin());
  for (const std::int32_t id : std::span(a.recent + row * a.recent_row, a.recent_count)) {
    const auto token = static_cast<std::size_t>(id);
    if (id >= 0 && token < logits.size() && std::isfinite(logits[token])) {
      room.logits[token] = filters.penalised(logits[token]);
    }
  }
  return room.logits;
}

/// What is drawn from.
struct KeptWeights {
  LastKept last;
  LogitWeights likely;
  float coldness;
  std::uint32_t min_weight;
  /// Of the elements from `i` on.
  HWY_INLINE VWeight of(std::span<const float> x, std::size_t i) const {
    const F32 d;
    const std::size_t left = x.size() - i;
    const Vf v = load_up_to(d, x.data() + i, left);
    auto keeps = last.keeps(v, i);
    if (left < kLanes) {
      keeps = hn::And(keeps, hn::FirstN(d, left));
    }
    if (hn::AllFalse(d, keeps)) {
      return hn::Zero(WeightBits());
    }
    if (min_weight > 0) {
      const auto min = hn::Set(WeightBits(), static_cast<std::int32_t>(min_weight));
      keeps = hn::And(keeps, hn::RebindMask(d, hn::Not(hn::Lt(likely.of(v), min))));
    }
    return hn::IfThenElseZero(hn::RebindMask(WeightBits(), keeps), likely.of(v, coldness));
  }
};

std::uint64_t weight_of_block(std::span<const float> x, const KeptWeights& weights,
                              std::size_t block) {
  WeightSum sum;
  const std::size_t first = block * Block::kTokens;
  for (std::size_t i = first; i < std::min(first + Block::kTokens, x.size()); i += kLanes) {
    sum.add(WeightSum::Parts(weights.of(x, i)));
  }
  return sum.total();
}

/// The token before which weights up to `left` are, and not its own.
template <class F>
std::int32_t draw(std::span<const float> x, const KeptWeights& weights, std::uint64_t left,
                  const F& of_block) {
  std::size_t block = 0;
  for (std::uint64_t weight = 0; (weight = of_block(block)) <= left; ++block) {
    left -= weight;
  }
  HWY_ALIGN std::int32_t lanes[kLanes];
  for (std::size_t i = block * Block::kTokens;; i += kLanes) {
    hn::Store(weights.of(x, i), WeightBits(), lanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto weight = static_cast<std::uint64_t>(lanes[lane]);
      if (weight > left) {
        return static_cast<std::int32_t>(i + lane);
      }
      left -= weight;
    }
  }
}

/// Where the largest logit is no number, those that equal it have all the weight.
std::span<const float> beside_equals(std::span<const float> x, float best, const Room& room) {
  std::ranges::transform(x, room.logits.begin(), [best](float logit) {
    return logit == best ? 0 : -std::numeric_limits<float>::infinity();
  });
  return room.logits;
}

std::int32_t choose(std::span<const float> x, const SampleFilters& filters, std::uint32_t word,
                    const Room& room) {
  const float best = fold<FoldMax>(x.size(), [&](std::size_t i, std::size_t left) REPRISE_INLINED {
    return load_up_to(F32(), x.data() + i, left);
  });
  if (filters.greedy || best == -std::numeric_limits<float>::infinity()) {
    const std::size_t found = first_of(best, x.data(), x.size());
    const bool no_number = found == x.size();
    if (filters.greedy || no_number) {
      return no_number ? 0 : static_cast<std::int32_t>(found);
    }
  }
  if (std::isinf(best)) {
    return choose(beside_equals(x, best, room), filters, word, room);
  }
  const LogitWeights likely(best);
  LastKept last;
  const auto kept = [&] { return KeptWeights{last, likely, filters.coldness, filters.min_weight}; };
  if (filters.top_k > 0 && filters.top_k < x.size()) {
    last = keep_largest(x, likely, filters.top_k, filters.top_p, room.ranks);
  } else if (filters.top_p < SampleFilters::kWhole) {
    const Nucleus nucleus =
        keep_likely(x, best, likely, filters.top_p, room.ranks, room.spare, room.blocks);
    last = nucleus.last;
    if (filters.coldness == 1 && filters.min_weight == 0) {
      const auto cut = static_cast<std::size_t>(last.column) / Block::kTokens;
      return draw(x, kept(), drawn(nucleus.weight, word), [&](std::size_t block) {
        return block == cut ? weight_of_block(x, kept(), block) : nucleus.weight_of(block);
      });
    }
  }
  std::uint64_t total = 0;
  for (std::size_t block = 0; block < room.blocks.size(); ++block) {
    total += room.blocks[block].weight = weight_of_block(x, kept(), block);
  }
  return draw(x, kept(), drawn(total, word),
              [&](std::size_t block) { return room.blocks[block].weight; });
}

void run(const Work& work, std::int64_t first, std::int64_t end) {
  const auto& a = work.as<Sample>();
  const SampleFilters filters(work.value(a.temperature), work.value(a.top_k), work.value(a.top_p),
                              work.value(a.min_p), work.value(a.repetition_penalty));
  const auto seed = static_cast<std::uint32_t>(work.value(a.seed));
  const auto position = static_cast<std::uint32_t>(work.value(a.position));
  const Room room(work.own, a.tokens);
  for (std::int64_t row = first; row < end; ++row) {
    const PhiloxCounter words =
        philox4x32({position, static_cast<std::uint32_t>(row), 0, 0}, {seed, 0});
    a.y[row] = choose(penalised(a, row, filters, room), filters, words[0], room);
  }
}

}  // namespace

bool plan_sample(const KernelCall& call, KernelPlan& plan) {
  const HostTensor& logits = call.tensors[0];
  const HostTensor& recent = call.tensors[1];
  const bool by_rows = recent && recent.shape().rank() == 2;
  const Sample sample{.logits = reinterpret_cast<const float*>(logits.data),
                      .row = logits.spec->strides[0],
                      .tokens = static_cast<std::size_t>(logits.shape().back()),
                      .recent = reinterpret_cast<const std::int32_t*>(recent.data),
                      .recent_row = by_rows ? recent.spec->strides[0] : 0,
                      .recent_count = recent ? static_cast<std::size_t>(recent.shape().back()) : 0,
                      .y = reinterpret_cast<std::int32_t*>(call.tensors[2].data),
                      .temperature = attribute<Param<float>>(call, "temperature"),
                      .top_k = attribute<Param<std::int32_t>>(call, "top_k"),
                      .top_p = attribute<Param<float>>(call, "top_p"),
                      .min_p = attribute<Param<float>>(call, "min_p"),
                      .repetition_penalty = attribute<Param<float>>(call, "repetition_penalty"),
                      .seed = attribute<Param<std::int32_t>>(call, "seed"),
                      .position = attribute<Param<std::int32_t>>(call, "position")};
  plan.main = {.run = run,
               .items = logits.shape().dim(0),
               .item_ns = 200 + static_cast<double>(sample.tokens)};
  plan.own_bytes = Room::bytes(sample.tokens);
  plan.set_arguments(sample);
  return true;
}

}  // namespace reprise::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
REPRISE_EXPORT_KERNEL(sample)
#endif
