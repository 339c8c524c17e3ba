#include "debugger/model/node_errors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "debugger/model/node_details.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

bool differs(const ComparisonRow& row, std::optional<double> threshold) {
  return threshold ? !row.max_rel || *row.max_rel > *threshold : !row.pass;
}

NodeError error_of(const ComparisonRow& row, std::optional<double> threshold) {
  const auto index = [](std::optional<std::int64_t> value) {
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  };
  return {.node = index(row.node),
          .tensor = index(row.tensor),
          .name = row.name,
          .max_abs = row.max_abs,
          .max_rel = row.max_rel,
          .rmse = row.rmse,
          .cosine = row.cosine,
          .first_bad = row.first_bad,
          .tolerance = row.tolerance,
          .differs = differs(row, threshold),
          .blamed = {},
          .input_differs = row.input_differs.value_or(false)};
}

/// Finds who of those before a row differs already. Rows are by node, so that all a node reads was
/// seen before.
void blame(const Capture& capture, NodeErrors& errors) {
  struct Made {
    std::uint32_t node = 0;
    bool differs = false;
  };
  std::map<std::uint32_t, Made> made;  // by the tensor whose memory it is
  for (NodeError& row : errors.rows) {
    if (!row.node) {
      continue;
    }
    const Capture::Range range = capture.nodes[*row.node].operands;
    bool compared = false;
    for (const Capture::Operand& operand :
         std::span(capture.operands).subspan(range.first, range.count)) {
      const auto found = made.find(aliased(capture, operand.tensor));
      if (!operand.reads || found == made.end() || found->second.node == *row.node) {
        continue;
      }
      compared = true;
      const std::uint32_t by = found->second.node;
      if (found->second.differs &&
          std::find(row.blamed.begin(), row.blamed.end(), by) == row.blamed.end()) {
        row.blamed.push_back(by);
      }
    }
    row.input_differs = compared ? !row.blamed.empty() : row.input_differs;
    if (row.tensor) {
      made[aliased(capture, *row.tensor)] = {*row.node, row.differs};
    }
  }
}

}  // namespace

std::vector<std::string> references_of(const TensorStatistics& numbers) {
  std::vector<std::string> references;
  for (auto row = numbers.comparisons.rbegin(); row != numbers.comparisons.rend(); ++row) {
    if (std::find(references.begin(), references.end(), row->reference) == references.end()) {
      references.push_back(row->reference);
    }
  }
  return references;
}

NodeErrors node_errors(const Capture& capture, const TensorStatistics& numbers,
                       const std::string& reference, std::optional<double> threshold) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::string>;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  std::map<Key, const ComparisonRow*> latest;
  for (const ComparisonRow& row : numbers.comparisons) {
    if (row.reference == reference) {
      latest[{row.node.value_or(kLast), row.tensor.value_or(kLast), row.name}] = &row;
    }
  }
  NodeErrors errors;
  for (const auto& [key, row] : latest) {
    errors.rows.push_back(error_of(*row, threshold));
    errors.differing += errors.rows.back().differs ? 1U : 0U;
  }
  blame(capture, errors);
  const auto first = std::find_if(errors.rows.begin(), errors.rows.end(), [](const NodeError& row) {
    return row.node && row.differs && !row.input_differs;
  });
  if (first != errors.rows.end()) {
    errors.first = static_cast<std::size_t>(first - errors.rows.begin());
  }
  return errors;
}

std::optional<std::uint32_t> next_not_finite(const TensorStatistics& numbers,
                                             std::optional<std::uint32_t> from) {
  std::optional<std::uint32_t> first, next;
  for (const TensorSums& sums : numbers.sums) {
    const auto node = static_cast<std::uint32_t>(sums.node);
    if (sums.nan == 0 && sums.infinite == 0) {
      continue;
    }
    first = std::min(first.value_or(node), node);
    if (from && node > *from) {
      next = std::min(next.value_or(node), node);
    }
  }
  return next ? next : first;
}

std::optional<std::int64_t> first_not_finite_replay(const TensorStatistics& numbers,
                                                    std::uint32_t node) {
  std::optional<std::int64_t> first;
  for (const KeptNotFinite& kept : numbers.kept_not_finite) {
    if (kept.node == node) {
      first = std::min(first.value_or(kept.replay), kept.replay);
    }
  }
  if (first) {
    return first;
  }
  for (const TensorSums& sums : numbers.sums) {
    if (sums.node == node && sums.first_not_finite_replay) {
      first =
          std::min(first.value_or(*sums.first_not_finite_replay), *sums.first_not_finite_replay);
    }
  }
  return first;
}

std::optional<double> threshold_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t end = text.find_last_not_of(' ') + 1;
  const bool percent = text[end - 1] == '%';
  const char* const stop = text.data() + end - (percent ? 1 : 0);
  double value = -1;
  const auto [read, error] = std::from_chars(text.data() + begin, stop, value);
  if (error != std::errc() || read != stop || !std::isfinite(value) || value < 0) {
    throw_invalid_argument("The threshold (", text,
                           ") is no number from 0 on, such as 1e-3 or 0.1%.");
  }
  return percent ? value / 100 : value;
}

void ErrorList::refresh(const std::shared_ptr<const Capture>& capture,
                        const TensorStatisticsRead& numbers) {
  const bool other = capture != capture_;
  if (!other && revision_ == numbers.revision() && shown_ == reference && typed_ == threshold) {
    return;
  }
  if (typed_ != threshold) {
    typed_ = threshold;
    problem_.clear();
    try {
      threshold_ = threshold_of(threshold);
    } catch (const Error& e) {
      problem_ = e.what();
    }
  }
  ++version_;
  capture_ = capture;
  revision_ = numbers.revision();
  references_ =
      numbers.value() == nullptr ? std::vector<std::string>() : references_of(*numbers.value());
  reference = other || reference >= references_.size() ? 0 : reference;
  shown_ = reference;
  errors_ = references_.empty()
                ? NodeErrors()
                : node_errors(*capture, *numbers.value(), references_[reference], threshold_);
}

}  // namespace reprise::debugger
