#include "debugger/model/number_diff.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

// Contents that differ are read and compared up to so many bytes; others just differ.
constexpr std::uint64_t kMaxReadBytes = std::uint64_t{128} << 20U;

struct ComparedSide {
  ComparedSide(const CaptureOfFile& of, const std::stop_token& stop)
      : path(of.path),
        capture(read_capture(of.path, of.id, stop)),
        numbers(read_numbers(of.path, capture, stop)) {
    for (const SnapshotRow& row : numbers.snapshots) {
      snapshots[row.of.tensor][row.of.sequence] = &row;
    }
  }

  const std::filesystem::path path;
  const Capture capture;
  const TensorStatistics numbers;
  std::map<std::int64_t, std::map<std::uint64_t, const SnapshotRow*>> snapshots;
};

struct SnapshotPair {
  const SnapshotRow *a, *b;
};

/// Of the last replay of which both have one.
std::optional<SnapshotPair> last_pair(const ComparedSide& a, const ComparedSide& b,
                                      std::int64_t tensor_a, std::int64_t tensor_b) {
  const auto of_a = a.snapshots.find(tensor_a);
  const auto of_b = b.snapshots.find(tensor_b);
  if (of_a == a.snapshots.end() || of_b == b.snapshots.end()) {
    return std::nullopt;
  }
  for (auto row = of_a->second.rbegin(); row != of_a->second.rend(); ++row) {
    const auto other = of_b->second.find(row->first);
    if (other != of_b->second.end()) {
      return SnapshotPair{row->second, other->second};
    }
  }
  return std::nullopt;
}

class Comparison {
 public:
  Comparison(const ComparedSide& a, const ComparedSide& b, const std::stop_token& stop)
      : a_(a), b_(b), stop_(stop) {}

  NumberDiff of(const SnapshotPair& pair) {
    NumberDiff diff{pair.a->of.sequence, pair.a->of.name, {}, {}};
    const bool alike = pair.a->dtype == pair.b->dtype && pair.a->shape_json == pair.b->shape_json;
    if (alike && pair.a->content_hash == pair.b->content_hash) {
      diff.max_abs = diff.max_rel = 0.0;
    } else if (alike && pair.a->bytes <= left_) {
      left_ -= pair.a->bytes;
      try {
        const ValueDistance found = distance_of(values(a_, *pair.a), values(b_, *pair.b));
        if (std::isfinite(found.max_abs)) {
          diff.max_abs = found.max_abs;
          diff.max_rel = found.max_rel;
        }
      } catch (const Error&) {
        // A missing or damaged file: it differs, by nobody knows how much. Tensors says why.
      }
    }
    return diff;
  }

 private:
  TensorValues values(const ComparedSide& side, const SnapshotRow& row) const {
    return decode_values(row.dtype, row.shape_json, read_snapshot_bytes(side.path, row.id, stop_));
  }

  const ComparedSide& a_;
  const ComparedSide& b_;
  const std::stop_token& stop_;
  std::uint64_t left_ = kMaxReadBytes;
};

bool further(const NumberDiff& a, const NumberDiff& b) {
  return !a.max_rel || (b.max_rel && *a.max_rel > *b.max_rel);
}

}  // namespace

ValueDistance distance_of(const TensorValues& a, const TensorValues& b) {
  double squares = 0;
  std::size_t finite = 0;
  for (const double value : a.values) {
    if (std::isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  }
  const double rms = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  ValueDistance distance;
  for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const double x = a.values[i], y = b.values[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      continue;
    }
    const double apart = std::abs(x - y);
    if (!std::isfinite(apart)) {
      return {std::nan(""), std::nan("")};
    }
    const double scale = std::max(std::abs(x), rms);
    distance.max_abs = std::max(distance.max_abs, apart);
    distance.max_rel = std::max(distance.max_rel, scale > 0 ? apart / scale : HUGE_VAL);
  }
  return distance;
}

std::vector<std::optional<NumberDiff>> diff_numbers(const CaptureOfFile& a, const CaptureOfFile& b,
                                                    const GraphDiff& nodes,
                                                    const std::stop_token& stop) {
  const ComparedSide side_a(a, stop), side_b(b, stop);
  Comparison compare(side_a, side_b, stop);
  std::vector<std::optional<NumberDiff>> diffs(nodes.nodes.size());
  for (std::size_t n = 0; n < diffs.size(); ++n) {
    const NodeDiff& node = nodes.nodes[n];
    if (!node.a || !node.b || node.a->node >= side_a.capture.nodes.size() ||
        node.b->node >= side_b.capture.nodes.size()) {
      continue;  // of a file that was replaced meanwhile
    }
    const auto results_a = results_of(side_a.capture, node.a->node);
    const auto results_b = results_of(side_b.capture, node.b->node);
    for (std::size_t r = 0; r < std::min(results_a.size(), results_b.size()); ++r) {
      const auto pair = last_pair(side_a, side_b, results_a[r], results_b[r]);
      if (!pair) {
        continue;
      }
      NumberDiff found = compare.of(*pair);
      if (!diffs[n] || further(found, *diffs[n])) {
        diffs[n] = std::move(found);
      }
    }
  }
  return diffs;
}

}  // namespace reprise::debugger
