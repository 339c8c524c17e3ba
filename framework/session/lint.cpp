#include "reprise/session/lint.h"

#include <algorithm>

#include "framework/session/capture_comparison.h"
#include "framework/session/state_snapshot.h"

namespace reprise {
namespace {

constexpr std::size_t kMostLines = 16;

}  // namespace

std::string LintFinding::text() const {
  const std::string at =
      where.line == 0 ? "" : std::string(", ") + where.file + ":" + std::to_string(where.line);
  return (node == kNoNode ? op : "op " + std::to_string(node) + " " + op) +
         (scope.empty() ? "" : " (" + scope + ")") + at + ": " + field + " is (" + first +
         ") in run 0 and (" + other + ") in run " + std::to_string(run);
}

std::string LintReport::text() const {
  const std::string what =
      "'" + name + "', " + std::to_string(runs) + " runs, " + std::to_string(nodes) + " ops: ";
  if (clean()) {
    return what + "nothing is baked";
  }
  const auto causes =
      static_cast<std::size_t>(std::ranges::count(findings, false, &LintFinding::follows));
  std::string text = what + std::to_string(causes) + " baked";
  if (causes < findings.size()) {
    text += ", " + std::to_string(findings.size() - causes) + " more follow from that";
  }
  std::size_t lines = 0;
  for (const LintFinding& finding : findings) {
    if (!finding.follows && lines++ < kMostLines) {
      text += "\n" + finding.text();
    }
  }
  return text + (lines > kMostLines ? "\nand " + std::to_string(lines - kMostLines) + " more" : "");
}

LintReport lint(GraphExecutor& executor, const RecordFunction& pass, const LintOptions& options) {
  constexpr std::uint32_t kLeastRuns = 2;
  const auto given = static_cast<std::uint32_t>(options.runs.size());
  if (given == 1) {
    invalid("lint compares at least 2 runs of a pass, but got (1).");
  }
  const StateSnapshot state(options.session.state);
  const auto capture = [&](std::uint32_t run) {
    state.restore();
    if (given > 0) {
      options.runs[run]();
      state.show_what_is_set();
    }
    return DryCapture::of(executor, pass, options.session);
  };
  const DryCapture first = capture(0);
  LintReport report{.name = first.recorded->graph.name,
                    .runs = std::max(given, kLeastRuns),
                    .nodes = static_cast<std::uint32_t>(first.recorded->graph.nodes.size())};
  for (std::uint32_t run = 1; run < report.runs; ++run) {
    const DryCapture other = capture(run);
    CaptureComparison(first, other, run, report.findings).compare();
  }
  std::ranges::stable_sort(report.findings, {}, &LintFinding::node);
  return report;
}

}  // namespace reprise
