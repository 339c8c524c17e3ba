#include "framework/session/state/state_bound.h"

#include <algorithm>
#include <bit>

#include "framework/graph/node_call.h"

namespace reprise {
namespace {

std::int64_t ceil_divided(std::int64_t value, std::int64_t divisor) {
  return value > 0 ? (value + divisor - 1) / divisor : value / divisor;
}

}  // namespace

std::vector<StateGrowth> growths_of(const ComputeGraph& graph) {
  return growths_of(graph, 0, static_cast<std::uint32_t>(graph.nodes.size()));
}

std::vector<StateGrowth> growths_of(const ComputeGraph& graph, std::uint32_t first,
                                    std::uint32_t end) {
  std::vector<StateGrowth> growths;
  for (std::uint32_t n = first; n < end; ++n) {
    if (graph.nodes[n].op->grows != nullptr) {
      const NodeCall node(graph, n);
      const StateGrowth growth = graph.nodes[n].op->grows(node.call());
      if (growth.word != StateField::kNone) {
        growths.push_back(growth);
      }
    }
  }
  return growths;
}

StateBound::StateBound(const StateLayout& layout)
    : fields_(layout.fields()),
      derivations_(layout.derivations()),
      host_count_(layout.host_count()),
      carried_count_(layout.carried_count()) {
  for (const StateFieldInfo& info : fields_) {
    base_.push_back(std::bit_cast<std::int32_t>(info.initial));
    limited_ = limited_ || (info.owner != StateOwner::host && info.range.limits());
  }
}

StateBound::Interval StateBound::evaluate(const StateExpression& e,
                                          std::span<const Interval> words) {
  Interval sum{e.c, e.c};
  const auto add = [&](std::int32_t field, std::int64_t factor) {
    if (field >= 0) {
      const Interval& value = words[static_cast<std::size_t>(field)];
      sum.low += std::min(factor * value.low, factor * value.high);
      sum.high += std::max(factor * value.low, factor * value.high);
    }
  };
  add(e.x, e.a);
  add(e.y, e.b);
  const auto end = [&](std::int64_t value) {
    return std::clamp<std::int64_t>(ceil_divided(value, std::max(e.div, 1)), e.lo, e.hi);
  };
  return {end(sum.low), end(sum.high)};
}

std::span<const StateBound::Interval> StateBound::words_now(const SentState& sent) const {
  std::vector<Interval>& words = words_;
  words.clear();
  for (std::size_t i = 0; i < base_.size(); ++i) {
    const std::int64_t value =
        i < host_count_ ? std::bit_cast<std::int32_t>(sent.host[i]) : base_[i];
    words.push_back({value, value});
  }
  const auto patch = [&](std::uint32_t mask, const auto& value_of) {
    for (; mask != 0; mask &= mask - 1) {
      const auto field = static_cast<std::uint32_t>(std::countr_zero(mask));
      const std::int64_t value = value_of(field);
      words[host_count_ + field] = {value, value};
    }
  };
  for (const Launch& launch : in_flight_) {
    patch(launch.patch_mask, [&](std::uint32_t field) { return launch.patches[field]; });
    for (std::uint32_t field = 0; field < carried_count_; ++field) {
      words[host_count_ + field].low += launch.adds[field].low;
      words[host_count_ + field].high += launch.adds[field].high;
    }
  }
  patch(sent.patch_mask,
        [&](std::uint32_t field) { return std::bit_cast<std::int32_t>(sent.patches[field]); });
  for (const auto& [target, expression] : derivations_) {
    words[target] = evaluate(expression, words);
  }
  return words;
}

std::optional<StateBound::Violation> StateBound::check(const SentState& sent) const {
  if (!limited_) {
    return std::nullopt;
  }
  const std::span<const Interval> words = words_now(sent);
  for (const StateFieldInfo& info : fields_) {
    const Interval& value = words[info.word];
    if (info.owner != StateOwner::host && info.range.limits() &&
        (value.low < info.range.low || value.high > info.range.high)) {
      return Violation{info.word, value.low, value.high,
                       in_flight_.empty() ? 0 : in_flight_.back().submission};
    }
  }
  return std::nullopt;
}

void StateBound::submitted(std::uint64_t submission, const SentState& sent,
                           std::span<const StateGrowth> growths, std::uint32_t iterations,
                           bool exact) {
  if (!limited_) {
    return;
  }
  const std::span<const Interval> words = words_now(sent);
  Launch launch;
  launch.submission = submission;
  launch.patch_mask = sent.patch_mask;
  std::ranges::transform(sent.patches.first(carried_count_), launch.patches.begin(),
                         [](std::uint32_t bits) { return std::bit_cast<std::int32_t>(bits); });
  for (const StateGrowth& growth : growths) {
    const std::uint32_t field = growth.word - host_count_;
    if (field >= carried_count_) {
      continue;
    }
    const Interval by =
        growth.by.dynamic() ? words[growth.by.word] : Interval{growth.by.value, growth.by.value};
    const Interval all{by.low * iterations, by.high * iterations};
    launch.adds[field].low += exact ? all.low : std::min<std::int64_t>(all.low, 0);
    launch.adds[field].high += exact ? all.high : std::max<std::int64_t>(all.high, 0);
  }
  in_flight_.push_back(launch);
}

void StateBound::returned(std::uint64_t submission, std::span<const std::uint32_t> words) {
  if (limited_ && submission > base_submission_) {
    read(submission, words);
  }
}

void StateBound::read(std::uint64_t submission, std::span<const std::uint32_t> words) {
  base_submission_ = submission;
  std::ranges::transform(words.first(base_.size()), base_.begin(),
                         [](std::uint32_t bits) { return std::bit_cast<std::int32_t>(bits); });
  std::erase_if(in_flight_, [&](const Launch& launch) { return launch.submission <= submission; });
}

}  // namespace reprise
