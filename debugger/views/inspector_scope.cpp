// The inspector of a scope or a group of repeated ones, of several nodes, and of the whole capture.
#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/views/inspector_parts.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

void slowest(Ui& ui, Workspace& workspace, Rows& rows, const NodeSums& sums) {
  const CaptureStatistics& statistics = workspace.document.statistics();
  if (statistics.nodes.empty()) {
    return;
  }
  heading(ui, rows, "Slowest nodes: p50, p50 share");
  const auto scope = ui.scope("slowest");
  for (const std::uint32_t node : sums.slowest) {
    // The sums are of the last poll(), the statistics of whoever changed the range since.
    if (const NodeTiming* const timing = timing_of(statistics, node)) {
      node_link(ui, workspace, rows.next(), node,
                duration_text(timing->p50_ns) + "  " + percent_text(share_of(statistics, *timing)),
                true);
    }
  }
}

void show_sums(Ui& ui, const Workspace& workspace, Rows& rows, const NodeSums& sums) {
  const CaptureStatistics& statistics = workspace.document.statistics();
  if (statistics.nodes.empty()) {
    ui.text_in("no-times", rows.next(), "No node was timed: TimingMode::node",
               {.colour = Colour::dim});
  } else {
    named_value(ui, rows, "p50", "sum of p50", duration_text(sums.p50_ns));
    named_value(
        ui, rows, "share", "p50 share",
        percent_text(static_cast<double>(sums.p50_ns) /
                     static_cast<double>(std::max<std::uint64_t>(statistics.p50_sum_ns, 1))));
  }
  named_value(ui, rows, "bytes", "memory", bytes_text(sums.bytes) + " read and written");
  named_value(ui, rows, "flops", "arithmetic", count_text(sums.flops) + " FLOP");
}

void memory(Ui& ui, Rows& rows, const Capture& capture) {
  heading(ui, rows, "Memory of activations");
  const auto of_unshared = [&](std::uint64_t bytes) {
    return bytes_text(bytes) +
           (capture.unshared_bytes == 0
                ? ""
                : ", " + percent_text(static_cast<double>(bytes) /
                                      static_cast<double>(capture.unshared_bytes)));
  };
  named_value(ui, rows, "unshared", "unshared", bytes_text(capture.unshared_bytes));
  named_value(ui, rows, "arena", "arena", of_unshared(capture.arena_bytes));
  named_value(ui, rows, "peak", "live peak", of_unshared(capture.live_peak_bytes));
}

}  // namespace

void inspect_scope(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t index,
                   const NodeSums& sums) {
  const ScopeTree::Item& item = workspace.scopes[index];
  ui.text_in("title", rows.next(ui.px(28)), item.path.empty() ? item.name : item.path,
             {.font = FontKind::semibold});
  if (item.kind == ScopeTree::Kind::group) {
    named_value(ui, rows, "repeats", "repeats", count_text(item.children.size()) + " times");
  }
  named_value(ui, rows, "nodes", "nodes",
              count_text(item.count) + ", from #" + std::to_string(item.first));
  show_sums(ui, workspace, rows, sums);
  slowest(ui, workspace, rows, sums);
}

void inspect_nodes(Ui& ui, Workspace& workspace, Rows& rows, std::size_t count,
                   const NodeSums& sums) {
  ui.text_in("title", rows.next(ui.px(28)), count_text(count) + " nodes",
             {.font = FontKind::semibold});
  show_sums(ui, workspace, rows, sums);
  slowest(ui, workspace, rows, sums);
}

void inspect_capture(Ui& ui, Workspace& workspace, Rows& rows, const NodeSums& sums) {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  const CaptureSummary& summary = capture->summary;
  ui.text_in("title", rows.next(ui.px(28)), summary.name.empty() ? "Capture" : summary.name,
             {.font = FontKind::semibold});
  const auto text = [&](const char* id, const char* name, const std::string& value) {
    if (!value.empty()) {
      named_value(ui, rows, id, name, value, {});
    }
  };
  text("app", "program", summary.app);
  text("label", "label", summary.label);
  text("run", "run", std::to_string(summary.id.run) + ", " + workspace.document.exit_state());
  text("start", "started", summary.start_utc);
  text("device", "device", summary.device);
  named_value(ui, rows, "nodes", "nodes", count_text(capture->nodes.size()));
  named_value(ui, rows, "steps", "steps", count_text(capture->steps.size()));
  const auto emitted = std::count_if(capture->barriers.begin(), capture->barriers.end(),
                                     [](const Capture::Barrier& b) { return b.emitted; });
  named_value(ui, rows, "barriers", "barriers", count_text(static_cast<std::uint64_t>(emitted)));
  named_value(ui, rows, "edges", "edges", count_text(capture->edges.size()));
  // As the file says by now: the capture is as it was when it was loaded.
  const auto& captures = workspace.document.captures();
  const auto now = std::ranges::find(captures, summary.id, &CaptureSummary::id);
  named_value(ui, rows, "replays", "replays",
              count_text(workspace.document.replays().rows.size()) + ", " +
                  count_text((now == captures.end() ? summary : *now).timed_replays) +
                  " with step times");
  if (!workspace.document.statistics().nodes.empty()) {
    named_value(ui, rows, "times", "times of", replays_text(workspace.document.statistics()));
  }
  slowest(ui, workspace, rows, sums);
  memory(ui, rows, *capture);
  if (!capture->state_fields.empty()) {
    heading(ui, rows, "State fields");
    const auto scope = ui.scope("state");
    for (std::size_t f = 0; f < std::min(capture->state_fields.size(), kMaxInspected); ++f) {
      const Capture::StateField& field = capture->state_fields[f];
      named_value(ui, rows, field.name, field.name,
                  field.type + (field.count > 1 ? "[" + std::to_string(field.count) + "]" : "") +
                      "  " + field.owner +
                      (field.expression.empty() ? "" : " = " + field.expression));
    }
    rest_line(ui, rows, capture->state_fields.size());
  }
}

}  // namespace reprise::debugger
