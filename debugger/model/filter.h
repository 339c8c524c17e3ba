// What the user types to see some nodes of many: words separated by spaces that must all hold.
//   op:matmul  scope:layer.3  label:  kernel:  source:forward.cpp   a glob with * and ?, of the
//       whole value; a scope is found by every scope around it, a source by the end of its path,
//       with or without :line
//   p50>100us  p95  total  share>=5%  bytes<1MiB  flops>2M  idx=7  level<=3   with > >= < <= =;
//       false for nodes without that number
//   barrier      a barrier is emitted before the node
//   "two words"  anything else: part of the op, label, scope, kernel or source, in any case
//   -word        not
// The same expression is evaluated here and compiled to SQL.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct FilterProblem {
  std::size_t position = 0;  // bytes from the start of the text
  std::string message;       // a sentence
};

class NodeFilter {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  /// Every node.
  NodeFilter() = default;
  explicit NodeFilter(std::string_view text);

  /// Of the first word that is not understood; such a filter lets every node through.
  const std::optional<FilterProblem>& problem() const { return problem_; }
  /// The nodes that pass, in recorded order.
  std::vector<std::uint32_t> nodes(const Capture& capture,
                                   const CaptureStatistics& statistics) const;
  /// A condition over the columns of node_rows_sql(); "1" if every node passes.
  std::string where() const;

 private:
  enum class Kind : std::uint8_t { glob, number, barrier, text };
  enum class Compare : std::uint8_t { less, less_equal, equal, greater_equal, greater };
  struct Term {
    Kind kind = Kind::text;
    std::size_t field = 0;  // of the table of globs or numbers
    bool negated = false;
    std::string pattern;
    Compare compare = Compare::equal;
    double value = 0;
  };
  struct Row;
  class Parser;

  static bool holds(const Term& term, const Row& row);
  static std::string condition(const Term& term);

  std::vector<Term> terms_;
  std::optional<FilterProblem> problem_;
};

}  // namespace reprise::debugger
