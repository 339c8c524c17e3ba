#include "debugger/model/capture_diff.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/model/sql_values.h"

namespace reprise::debugger {
namespace {

constexpr double kNotable = 0.05;         // of the other time
constexpr double kNotableOfAll = 0.005;   // of the time of all nodes
constexpr double kSame = 0.02;            // from a factor of 1
constexpr double kMaxProbability = 0.01;  // of such a difference by chance

RunFacts run_facts(const CaptureOfFile& of, const std::stop_token& stop) {
  const SqlResult found =
      run_sql(of.path,
              "SELECT r.label, r.start_utc, b.version, b.git_commit, b.git_dirty FROM runs r LEFT "
              "JOIN builds b ON b.id = r.build_id WHERE r.id = " +
                  std::to_string(of.id.run),
              {}, stop);
  RunFacts facts;
  if (!found.rows.empty()) {
    const auto& row = found.rows[0];
    facts = {text_or_empty(row[0]), text_or_empty(row[1]), text_or_empty(row[2]),
             text_or_empty(row[3]), whole_of(row[4]).value_or(0) != 0};
  }
  return facts;
}

CaptureDiff::Side side_of(const CaptureOfFile& of, const std::stop_token& stop) {
  CaptureDiff::Side side{of, {}, {}, run_facts(of, stop)};
  for (const CaptureSummary& summary : read_captures(of.path, stop)) {
    if (summary.id == of.id) {
      side.graph = summary.name;
      side.device = summary.device;
    }
  }
  return side;
}

std::optional<double> median_of(const std::optional<NodeSide>& side) {
  return side && side->median_ns ? std::optional(static_cast<double>(*side->median_ns))
                                 : std::nullopt;
}

/// As recorded in b. What only a has comes behind what it comes behind in a.
std::vector<double> places_in_b(const GraphDiff& diff) {
  std::vector<double> places;
  double before = -1;
  for (const NodeDiff& node : diff.nodes) {
    before = node.b ? node.b->node : before;
    places.push_back(node.b ? before : before + 0.5);
  }
  return places;
}

/// What a row is ordered by.
std::optional<double> value_of(const CaptureDiff& diff, std::span<const double> places,
                               std::uint32_t row, DiffOrder order) {
  const NodeDiff& node = diff.graph.nodes[row];
  switch (order) {
    case DiffOrder::recorded:
      return places[row];
    case DiffOrder::median_a:
      return median_of(node.a);
    case DiffOrder::median_b:
      return median_of(node.b);
    case DiffOrder::difference: {
      const std::optional<double> difference = difference_ns(node);
      return difference ? std::optional(std::abs(*difference)) : std::nullopt;
    }
    case DiffOrder::ratio:
      return node.ratio;
    case DiffOrder::numbers:
      return !diff.numbers[row]           ? std::nullopt
             : diff.numbers[row]->equal() ? std::optional(0.0)
                                          : diff.numbers[row]->max_rel.value_or(HUGE_VAL);
  }
  return std::nullopt;
}

}  // namespace

CaptureDiff read_capture_diff(const CaptureOfFile& a, const CaptureOfFile& b,
                              const std::stop_token& stop) {
  CaptureDiff diff{side_of(a, stop), side_of(b, stop), diff_captures(a, b, stop), {}};
  diff.numbers = diff_numbers(a, b, diff.graph, stop);
  return diff;
}

const char* name_of(NodeChange change) {
  constexpr const char* kNames[] = {"added", "removed", "changed", "slower", "faster", "diverged"};
  return kNames[static_cast<std::size_t>(change)];
}

bool has(const CaptureDiff& diff, std::size_t row, NodeChange change) {
  const NodeDiff& node = diff.graph.nodes[row];
  const double ratio = node.ratio.value_or(1);
  const bool by_chance = node.probability.value_or(0) > kMaxProbability;
  switch (change) {
    case NodeChange::added:
      return !node.a;
    case NodeChange::removed:
      return !node.b;
    case NodeChange::changed:
      return !node.changes.empty();
    case NodeChange::slower:
      return !by_chance && ratio > 1 + kNotable;
    case NodeChange::faster:
      return !by_chance && ratio < 1 / (1 + kNotable);
    case NodeChange::diverged:
      return diff.numbers[row] && !diff.numbers[row]->equal();
  }
  return false;
}

std::optional<double> difference_ns(const NodeDiff& node) {
  const std::optional<double> a = node.a ? median_of(node.a) : 0;
  const std::optional<double> b = node.b ? median_of(node.b) : 0;
  return a && b ? std::optional(*b - *a) : std::nullopt;
}

std::uint64_t time_of_a_ns(const GraphDiff& diff) {
  std::uint64_t sum = 0;
  for (const NodeDiff& node : diff.nodes) {
    sum += node.a ? node.a->median_ns.value_or(0) : 0;
  }
  return sum;
}

std::optional<CommonFactor> common_factor(const GraphDiff& diff) {
  std::vector<std::pair<double, double>> ratios;  // and the time of A, which they weigh by
  double all = 0;
  for (const NodeDiff& node : diff.nodes) {
    if (node.ratio) {
      const double time = median_of(node.a).value_or(0);
      ratios.emplace_back(*node.ratio, time);
      all += time;
    }
  }
  if (ratios.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(ratios);
  CommonFactor common;
  double below = 0;
  for (const auto& [ratio, time] : ratios) {
    below += time;
    common.factor = ratio;
    if (below >= all / 2) {
      break;
    }
  }
  common.beyond = static_cast<std::size_t>(std::ranges::count_if(ratios, [&](const auto& of) {
    const double relative = of.first / common.factor;
    return (relative > 1 + kNotable || relative < 1 / (1 + kNotable)) &&
           std::abs(of.first - common.factor) * of.second > kNotableOfAll * all;
  }));
  return common;
}

std::string common_factor_text(const CommonFactor& common) {
  const std::string nodes = common.beyond == 0   ? "no node changed"
                            : common.beyond == 1 ? "1 node changed"
                                                 : count_text(common.beyond) + " nodes changed";
  return std::abs(common.factor - 1) < kSame
             ? "Most of B takes as long as A; " + nodes + " notably"
             : fmt::format("B is {:.2f} \xC3\x97 A throughout; beyond that ", common.factor) +
                   nodes + " notably";
}

std::vector<std::uint32_t> diff_rows(const CaptureDiff& diff, std::span<const NodeChange> wanted,
                                     DiffOrder order, bool descending) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < diff.graph.nodes.size(); ++row) {
    const auto holds = [&](NodeChange change) { return has(diff, row, change); };
    if (wanted.empty() || std::any_of(wanted.begin(), wanted.end(), holds)) {
      rows.push_back(row);
    }
  }
  const std::vector<double> places = places_in_b(diff.graph);
  const auto value = [&](std::uint32_t row) { return value_of(diff, places, row, order); };
  std::ranges::stable_sort(rows, [&](std::uint32_t l, std::uint32_t r) {
    const std::optional<double> left = value(l), right = value(r);
    if (!left || !right) {
      return left && !right;
    }
    return descending ? *left > *right : *left < *right;
  });
  return rows;
}

CaptureDiff read_diff_of(const std::filesystem::path& /*path*/,
                         const std::pair<CaptureOfFile, CaptureOfFile>& sides,
                         const std::stop_token& stop) {
  return read_capture_diff(sides.first, sides.second, stop);
}

OtherFile read_other_file(const std::filesystem::path& /*path*/, const std::filesystem::path& other,
                          const std::stop_token& stop) {
  return {other, read_captures(other, stop)};
}

}  // namespace reprise::debugger
