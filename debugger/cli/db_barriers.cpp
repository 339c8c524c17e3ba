#include "debugger/cli/capture_reports.h"
#include "debugger/model/barrier_list.h"

namespace reprise::cli {
namespace {

const Capture::Node* at(const Capture& capture, std::optional<std::uint32_t> node) {
  return node ? &capture.nodes[*node] : nullptr;
}

Listing barriers_of(const Capture& capture) {
  Listing list{"barriers",
               {{"barrier", "barrier", Holds::numbers},
                {"before_step", "before step", Holds::numbers},
                {"kind", "kind"},
                {"node", "node", Holds::numbers},
                {"op", "op"},
                {"scope", "scope"},
                {"cause_node", "waits for", Holds::numbers},
                {"cause_op", "op"},
                {"cause_scope", "scope"},
                {"tensors", "tensors"},
                {"pool", ""},
                {"offset_bytes", ""},
                {"bytes", "bytes", Holds::numbers},
                {"required", "required"},
                {"emitted", "emitted"},
                {"verdict", ""},
                {"reason", "reason"}}};
  for (std::uint32_t b = 0; b < capture.barriers.size(); ++b) {
    const Capture::Barrier& barrier = capture.barriers[b];
    const auto waiting = debugger::waiting_node(capture, barrier);
    const auto cause = debugger::cause_node(capture, barrier);
    const Capture::Node* to = at(capture, waiting);
    const Capture::Node* from = at(capture, cause);
    list.rows.push_back(
        {b, barrier.before_step, barrier.kind, waiting, to == nullptr ? "" : to->op,
         to == nullptr ? "" : to->scope, cause, from == nullptr ? "" : from->op,
         from == nullptr ? "" : from->scope, debugger::tensors_text(capture, barrier), barrier.pool,
         barrier.offset_bytes, barrier.size_bytes, barrier.required, barrier.emitted,
         debugger::name_of(debugger::verdict_of(barrier)), barrier.reason});
  }
  return list;
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
