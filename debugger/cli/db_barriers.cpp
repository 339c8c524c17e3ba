#include "debugger/cli/capture_reports.h"
#include "debugger/model/barrier_list.h"

namespace reprise::cli {
namespace {

Listing barriers_of(const Capture& capture) {
  using Row = Capture::Barrier;
  constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
  const auto waiting = [&](const Row& row) { return debugger::waiting_node(capture, row); };
  const auto cause = [&](const Row& row) { return debugger::cause_node(capture, row); };
  const auto of = [&](auto find, std::string Capture::Node::*member) {
    return [&capture, find, member](const Row& row) {
      const auto node = find(row);
      return node ? capture.nodes[*node].*member : "";
    };
  };
  return list_of<Row>(
      "barriers",
      {{"barrier", "barrier", kNumbers,
        [&](const Row& row) { return &row - capture.barriers.data(); }},
       {"before_step", "before step", kNumbers, &Row::before_step},
       {"kind", "kind", kTexts, &Row::kind},
       {"node", "node", kNumbers, waiting},
       {"op", "op", kTexts, of(waiting, &Capture::Node::op)},
       {"scope", "scope", kTexts, of(waiting, &Capture::Node::scope)},
       {"cause_node", "waits for", kNumbers, cause},
       {"cause_op", "op", kTexts, of(cause, &Capture::Node::op)},
       {"cause_scope", "scope", kTexts, of(cause, &Capture::Node::scope)},
       {"tensors", "tensors", kTexts,
        [&](const Row& row) { return debugger::tensors_text(capture, row); }},
       {"pool", kNotInTables, kTexts, &Row::pool},
       {"offset_bytes", kNotInTables, kTexts, &Row::offset_bytes},
       {"bytes", "bytes", kNumbers, &Row::size_bytes},
       {"required", "required", kTexts, &Row::required},
       {"emitted", "emitted", kTexts, &Row::emitted},
       {"verdict", kNotInTables, kTexts,
        [](const Row& row) { return debugger::name_of(debugger::verdict_of(row)); }},
       {"reason", "reason", kTexts, &Row::reason}},
      capture.barriers);
}

}  // namespace

Report barriers_report(const Captured& captured) {
  const debugger::BarrierCounts counts = debugger::counts_of(captured.capture.barriers);
  const std::size_t missing =
      counts.shown[static_cast<std::size_t>(debugger::BarrierFilter::missing)];
  Report report;
  add_facts(captured, report);
  report.add_fact("required", counts.required);
  report.add_fact("emitted", counts.emitted);
  report.add_fact("missing", missing);
  report.heading = title_of(captured) + ": " + std::to_string(counts.required) + " required, " +
                   std::to_string(counts.emitted) + " emitted, " + std::to_string(missing) +
                   " missing";
  report.listings.push_back(barriers_of(captured.capture));
  return report;
}

void print_barriers(const CaptureOptions& options) {
  barriers_report(read_captured(options.path, options.wish)).print(options.format);
}

}  // namespace reprise::cli
