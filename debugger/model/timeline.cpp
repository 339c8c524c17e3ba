#include "debugger/model/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace reprise::debugger {
namespace {

/// From the first begin to the last end of the steps of its nodes.
void add_scopes(const Capture& capture, const ScopeTree& tree,
                std::span<const CapturedStepTime> times, Timeline& timeline) {
  struct Extent {
    double begin = std::numeric_limits<double>::infinity(), end = -begin;
  };
  std::vector<Extent> nodes(capture.nodes.size());
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (capture.steps[s].node && times[s].duration_ns) {
      Extent& node = nodes[*capture.steps[s].node];
      const double begin = static_cast<double>(times[s].start_ns);
      node.begin = std::min(node.begin, begin);
      node.end = std::max(node.end, begin + static_cast<double>(*times[s].duration_ns));
    }
  }
  std::vector<std::uint32_t> lanes(tree.items().size(), 0);  // how many scopes lie around an item
  for (std::uint32_t i = 1; i < tree.items().size(); ++i) {
    const ScopeTree::Item& item = tree[i];
    const bool inside_scope = tree[item.parent].kind == ScopeTree::Kind::scope;
    lanes[i] = lanes[item.parent] + (inside_scope ? 1 : 0);
    if (item.kind != ScopeTree::Kind::scope) {
      continue;
    }
    Extent extent;
    for (std::uint32_t n = item.first; n < item.first + item.count; ++n) {
      extent.begin = std::min(extent.begin, nodes[n].begin);
      extent.end = std::max(extent.end, nodes[n].end);
    }
    if (extent.begin <= extent.end) {
      timeline.scopes.resize(std::max<std::size_t>(timeline.scopes.size(), lanes[i] + 1));
      timeline.scopes[lanes[i]].push_back({extent.begin, extent.end, i});
    }
  }
}

}  // namespace

Timeline make_timeline(const Capture& capture, const ScopeTree& scopes, const ReplayRow& replay,
                       std::span<const CapturedStepTime> times) {
  Timeline timeline;
  if (times.size() != capture.steps.size()) {
    times = {};
  }
  for (std::uint32_t s = 0; s < times.size(); ++s) {
    if (times[s].duration_ns) {
      const double begin = static_cast<double>(times[s].start_ns);
      timeline.steps.push_back({begin, begin + static_cast<double>(*times[s].duration_ns), s});
    }
  }
  for (std::uint32_t b = 0; b < capture.barriers.size(); ++b) {
    const Capture::Barrier& barrier = capture.barriers[b];
    if (barrier.emitted && barrier.before_step < times.size() &&
        times[barrier.before_step].duration_ns) {
      const double at = static_cast<double>(times[barrier.before_step].start_ns);
      timeline.barriers.push_back({at, at, b});
    }
  }
  add_scopes(capture, scopes, times, timeline);
  const double prepare = static_cast<double>(replay.prepare_ns.value_or(0));
  const double submit = static_cast<double>(replay.submit_ns.value_or(0));
  if (replay.prepare_ns) {
    timeline.host.push_back({"prepare", -submit - prepare, -submit});
  }
  if (replay.submit_ns) {
    timeline.host.push_back({"submit", -submit, 0});
  }
  if (replay.wait_ns) {
    timeline.host.push_back({"wait", 0, static_cast<double>(*replay.wait_ns)});
  }
  timeline.begin = -submit - prepare;
  timeline.end = timeline.host.empty() ? 0 : timeline.host.back().end;
  for (const TimelineBar& bar : timeline.steps) {
    timeline.end = std::max(timeline.end, bar.end);
  }
  timeline.end = std::max(timeline.end, timeline.begin + 1);
  return timeline;
}

std::vector<PixelBar> pixel_bars(std::span<const TimelineBar> bars, double begin,
                                 double ns_per_pixel, float width) {
  std::vector<PixelBar> drawn;
  for (std::uint32_t i = 0; i < bars.size(); ++i) {
    const double from = (bars[i].begin - begin) / ns_per_pixel;
    const double to = (bars[i].end - begin) / ns_per_pixel;
    if ((from < 0 && to <= 0) || from >= static_cast<double>(width)) {
      continue;
    }
    PixelBar bar{static_cast<float>(std::max(from, 0.0)),
                 static_cast<float>(std::min(to, static_cast<double>(width))), i, 1};
    if (to - from >= 1) {
      drawn.push_back(bar);
      continue;
    }
    bar.begin = std::floor(bar.begin);
    bar.end = bar.begin + 1;
    if (drawn.empty() || drawn.back().begin != bar.begin || drawn.back().end != bar.end) {
      drawn.push_back(bar);
      continue;
    }
    PixelBar& merged = drawn.back();
    ++merged.count;
    const auto length = [&](std::uint32_t of) { return bars[of].end - bars[of].begin; };
    merged.longest = length(i) > length(merged.longest) ? i : merged.longest;
  }
  return drawn;
}

double tick_step(double min) {
  const double ten = std::pow(10, std::floor(std::log10(std::max(min, 1e-3))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * ten >= min) {
      return factor * ten;
    }
  }
  return 10 * ten;
}

std::string tick_text(double ns, double step) {
  struct Unit {
    const char* name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"s", 1e9}, {"ms", 1e6}, {"\xC2\xB5s", 1e3}, {"ns", 1}};
  const Unit* unit = kUnits;
  while (unit->ns > 1 && std::max(std::abs(ns), step) < unit->ns) {
    ++unit;
  }
  const double decimals = std::ceil(-std::log10(step / unit->ns) - 1e-9);
  return fmt::format("{:.{}f} {}", ns == 0 ? 0.0 : ns / unit->ns,
                     static_cast<int>(std::clamp(decimals, 0.0, 9.0)), unit->name);
}

}  // namespace reprise::debugger
