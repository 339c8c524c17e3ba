#include "debugger/model/capture_diff.h"

#include <algorithm>
#include <cmath>

#include "reprise/profile/sql_query.h"

namespace reprise::debugger {
namespace {

constexpr double kNotable = 0.05;          // of the other time
constexpr double kMostProbability = 0.01;  // of such a difference by chance

RunFacts run_facts(const CaptureOfFile& of, const std::stop_token& stop) {
  const SqlResult found =
      run_sql(of.path,
              "SELECT r.label, r.start_utc, b.version, b.git_commit, b.git_dirty FROM runs r LEFT "
              "JOIN builds b ON b.id = r.build_id WHERE r.id = " +
                  std::to_string(of.id.run),
              {}, stop);
  RunFacts facts;
  if (!found.rows.empty()) {
    const auto text = [&](std::size_t column) {
      const auto* value = std::get_if<std::string>(&found.rows[0][column]);
      return value == nullptr ? std::string() : *value;
    };
    const auto* const dirty = std::get_if<std::int64_t>(&found.rows[0][4]);
    facts = {text(0), text(1), text(2), text(3), dirty != nullptr && *dirty != 0};
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
    case DiffOrder::difference:
      return difference_ns(node);
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
  const bool by_chance = node.probability.value_or(0) > kMostProbability;
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
  const std::optional<double> a = median_of(node.a), b = median_of(node.b);
  return a && b ? std::optional(*b - *a) : std::nullopt;
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

void DiffReads::open(const std::filesystem::path& other) {
  named_ = other;
  if (other.empty()) {
    captures_.forget();
    other_.clear();
    other_captures_.clear();
    return;
  }
  captures_.ask([from = other](const std::stop_token& stop) { return read_captures(from, stop); });
}

void DiffReads::take_captures() {
  if (!captures_.running() && captures_.result() != nullptr) {
    other_ = named_;
    other_captures_ = *captures_.result();
    captures_.forget();
  }
}

void DiffReads::compare(const CaptureOfFile& a, CaptureId b) {
  const std::pair asked(a, b);
  if (asked_ == asked) {
    return;
  }
  asked_ = asked;
  diff_.forget();
  diff_.ask([a, of_b = CaptureOfFile{path_, b}](const std::stop_token& stop) {
    return read_capture_diff(a, of_b, stop);
  });
}

void DiffReads::forget() {
  asked_.reset();
  diff_.forget();
}

bool DiffReads::poll() {
  const bool captures = captures_.poll(), diff = diff_.poll();
  take_captures();
  return captures || diff;
}

void DiffReads::settle() {
  captures_.settle();
  take_captures();
  diff_.settle();
}

}  // namespace reprise::debugger
