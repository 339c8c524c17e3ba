#include "reprise/session/lint.h"

#include <algorithm>

#include "framework/session/checks/capture_comparison.h"
#include "framework/session/checks/counted_rows.h"
#include "framework/session/record/plan_pass.h"
#include "framework/session/state/state_snapshot.h"

namespace reprise {
namespace {

constexpr std::size_t kMaxLines = 16;

void add_unordered(const ComputeGraph& graph, std::vector<LintFinding>& findings) {
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.arguments_unordered) {
      findings.push_back({.node = n,
                          .op = std::string(node.op->name),
                          .scope = graph.names.path(node.scope),
                          .field = std::string(LintFinding::kOrder),
                          .run = 0,
                          .where = node.where});
    }
  }
}

}  // namespace

std::string LintFinding::text() const {
  const std::string at = where.line == 0 ? "" : ", " + to_string(where);
  const std::string what = (node == kNoNode ? op : "op " + std::to_string(node) + " " + op) +
                           (scope.empty() ? "" : " (" + scope + ")") + at + ": ";
  if (field == kOrder) {
    return what +
           "several of its arguments are calls that record ops, in an order that the compiler "
           "chooses; give each a statement of its own";
  }
  if (field == kRows) {
    return what + "moves a position by (" + first + ") rows, but the pass writes (" + other +
           ") there, in run " + std::to_string(run);
  }
  if (field == kUsedRows) {
    return what + "reads (" + first + ") rows, but those that the pass writes end at (" + other +
           "), in run " + std::to_string(run);
  }
  return what + field + " is (" + first + ") in run 0 and (" + other + ") in run " +
         std::to_string(run);
}

std::string LintReport::text() const {
  const std::string what =
      "'" + name + "', " + std::to_string(runs) + " runs, " + std::to_string(nodes) + " ops: ";
  if (clean()) {
    return what + "nothing is baked";
  }
  const auto count_of = [this](std::string_view field) {
    return std::ranges::count(findings, field, &LintFinding::field);
  };
  const auto unordered = count_of(LintFinding::kOrder);
  const auto miscounted = count_of(LintFinding::kRows) + count_of(LintFinding::kUsedRows);
  const auto follow = std::ranges::count(findings, true, &LintFinding::follows);
  const auto baked = std::ssize(findings) - follow - unordered - miscounted;
  std::string text = what + (baked == 0 ? "nothing is" : std::to_string(baked)) + " baked";
  if (follow > 0) {
    text += ", " + std::to_string(follow) + " more follow from that";
  }
  if (unordered > 0) {
    text += ", " + std::to_string(unordered) + " without an order";
  }
  if (miscounted > 0) {
    text += ", " + std::to_string(miscounted) + " with other rows than are written";
  }
  std::size_t lines = 0;
  for (const LintFinding& finding : findings) {
    if (!finding.follows && lines++ < kMaxLines) {
      text += "\n" + finding.text();
    }
  }
  return text + (lines > kMaxLines ? "\nand " + std::to_string(lines - kMaxLines) + " more" : "");
}

LintReport lint(GraphExecutor& executor, const RecordFunction& pass, const LintOptions& options) {
  constexpr std::uint32_t kMinRuns = 2;
  const auto given = static_cast<std::uint32_t>(options.runs.size());
  if (given == 1) {
    throw_invalid_argument("lint compares at least 2 runs of a pass, but got (1).");
  }
  const StateSnapshot state(options.session.state);
  LintReport report{.runs = std::max(given, kMinRuns)};
  const auto capture = [&](std::uint32_t run) {
    state.restore();
    if (given > 0) {
      options.runs[run]();
    }
    state.show_what_is_set();
    PassPlan captured = plan_pass(executor.core(), pass, options.session);
    add_miscounted_rows(captured.graph(), options.session.state, run, report.findings);
    return captured;
  };
  const PassPlan first = capture(0);
  report.name = first.graph().name;
  report.nodes = static_cast<std::uint32_t>(first.graph().nodes.size());
  for (std::uint32_t run = 1; run < report.runs; ++run) {
    const PassPlan other = capture(run);
    compare_captures(first, other, run, report.findings);
  }
  add_unordered(first.graph(), report.findings);
  std::ranges::stable_sort(report.findings, {}, &LintFinding::node);
  return report;
}

}  // namespace reprise
