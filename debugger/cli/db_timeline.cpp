#include "debugger/cli/capture_reports.h"
#include "debugger/cli/table.h"

namespace reprise::cli {
namespace {

std::string host_text(const char* what, std::optional<std::uint64_t> ns) {
  return ns ? std::string(", ") + what + " " + microseconds(ns) + " us" : "";
}

void add_replay(const ReplayRow& replay, Report& report) {
  report.heading += host_text("prepare", replay.prepare_ns) +
                    host_text("submit", replay.submit_ns) + host_text("wait", replay.wait_ns) +
                    host_text("device", replay.device_ns);
  report.add_fact("phase", replay.phase);
  report.add_fact("timing_mode", std::string(name_of(replay.timing_mode)));
  report.add_fact("warm_up", replay.warm_up);
  report.add_fact("prepare_ns", replay.prepare_ns);
  report.add_fact("submit_ns", replay.submit_ns);
  report.add_fact("wait_ns", replay.wait_ns);
  report.add_fact("device_ns", replay.device_ns);
}

}  // namespace

Report timeline_report(const Captured& captured) {
  Report report;
  add_facts(captured, report);
  report.heading = title_of(captured);
  if (captured.replay) {
    add_replay(*captured.replay, report);
  }
  Listing slices{"slices",
                 {{"node", "node", Holds::numbers},
                  {"op", "op"},
                  {"label", kNotInTables},
                  {"scope", "scope"},
                  {"start_ns", "start us", Holds::numbers},
                  {"duration_ns", "us", Holds::numbers},
                  {"share", "%", Holds::numbers},
                  {"gb_per_s", "GB/s", Holds::numbers},
                  {"source", "source", Holds::paths}}};
  std::uint64_t total = 0;
  for (std::uint32_t n = 0; n < captured.capture.nodes.size(); ++n) {
    total += time_of_node(captured, n).duration_ns.value_or(0);
  }
  for (std::uint32_t n = 0; n < captured.capture.nodes.size(); ++n) {
    const Capture::Node& node = captured.capture.nodes[n];
    const NodeTime time = time_of_node(captured, n);
    const auto bytes = bytes_of(node);
    const double ns = static_cast<double>(time.duration_ns.value_or(0));
    const auto share = time.duration_ns && total > 0
                           ? std::optional(ns / static_cast<double>(total))
                           : std::nullopt;
    const auto rate =
        bytes && ns > 0 ? std::optional(static_cast<double>(*bytes) / ns) : std::nullopt;
    slices.rows.push_back({n, node.op, node.label, node.scope, nanoseconds(time.start_ns),
                           nanoseconds(time.duration_ns),
                           Cell(real(share, 1).value, share ? number(100 * *share, 1) : ""),
                           real(rate, 2), source_of(node)});
  }
  if (captured.times.empty()) {
    report.notes.push_back(
        "No step times: they come from replays in the timing mode node that were kept; "
        "`reprise db replays` says which.");
  }
  report.listings.push_back(std::move(slices));
  return report;
}

void print_timeline(const CaptureOptions& options) {
  timeline_report(read_captured(options.path, options.wish)).print(options.format);
}

}  // namespace reprise::cli
