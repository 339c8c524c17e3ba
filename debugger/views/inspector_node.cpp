// The inspector of a node.
#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/ui/plots.h"
#include "debugger/views/inspector_parts.h"
#include "debugger/views/shown_times.h"
#include "debugger/views/source_question.h"

namespace reprise::debugger {
namespace {

constexpr float kHistogramHeight = 132;  // at 1x
constexpr std::size_t kLinesAround = 4;

/// The scopes around a node, outermost first; each part selects its item of the tree.
void scope_links(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node) {
  std::vector<std::uint32_t> items;
  for (std::uint32_t item = workspace.scopes[workspace.scopes.item_of_node(node)].parent; item != 0;
       item = workspace.scopes[item].parent) {
    items.push_back(item);
  }
  if (items.empty()) {
    return;
  }
  const auto scope = ui.scope("scope");
  const Box row = rows.next();
  float x = row.min.x;
  for (auto item = items.rbegin(); item != items.rend() && x < row.max.x; ++item) {
    const std::string& name = workspace.scopes[*item].name;
    const float width = ui.text_size(name).x + ui.px(8);
    const Box box{{x, row.min.y}, {std::min(x + width, row.max.x), row.max.y}};
    if (link(ui, std::to_string(*item), box, name)) {
      workspace.select({.node = {}, .item = *item});
    }
    x += width;
    if (item + 1 != items.rend()) {
      ui.text_in("", {{x, row.min.y}, {x + ui.px(8), row.max.y}}, "/",
                 {.colour = Colour::dim, .align = Align::centre});
      x += ui.px(8);
    }
  }
}

std::string grid_text(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
         std::to_string(size[2]);
}

void attributes(Ui& ui, Rows& rows, const Capture::Node& node) {
  const std::vector<Attribute> all = attributes_of(node);
  if (all.empty()) {
    return;
  }
  heading(ui, rows, "Attributes");
  const auto scope = ui.scope("attribute");
  for (std::size_t a = 0; a < std::min(all.size(), kMaxInspected); ++a) {
    named_value(
        ui, rows, all[a].name.empty() ? "text" : all[a].name, all[a].name,
        all[a].from_state ? "state: " + all[a].value : all[a].value,
        {.font = FontKind::mono, .colour = all[a].from_state ? Colour::movement : Colour::text});
  }
  rest_line(ui, rows, all.size());
}

void step_rows(Ui& ui, Rows& rows, const Capture& capture, const Capture::Node& node) {
  heading(ui, rows, node.steps.count == 1 ? "Step" : "Steps");
  const auto scope = ui.scope("step");
  for (std::uint32_t i = 0; i < std::min<std::size_t>(node.steps.count, kMaxInspected); ++i) {
    const std::uint32_t index = capture.step_order[node.steps.first + i];
    const Capture::Step& step = capture.steps[index];
    const auto own = ui.scope(index);
    const Capture::Kernel* const kernel = step.kernel ? &capture.kernels[*step.kernel] : nullptr;
    named_value(ui, rows, "kernel", step.kind + " " + std::to_string(index),
                kernel == nullptr ? "" : kernel->name);
    // A step of the host has neither.
    if (!step.grid_expression.empty() || step.grid[0] > 0) {
      named_value(ui, rows, "grid", "  groups",
                  step.grid_expression.empty() ? grid_text(step.grid) : step.grid_expression);
    }
    if (kernel != nullptr && kernel->local_size[0] > 0) {
      named_value(ui, rows, "local", "  local size", grid_text(kernel->local_size));
    }
    if (kernel != nullptr && kernel->constants_json.size() > 2) {
      named_value(ui, rows, "constants", "  constants", kernel->constants_json);
    }
    if (!step.push.empty()) {
      std::string words;
      for (const std::uint32_t word :
           std::span(step.push).first(std::min(step.push.size(), kMaxInspected))) {
        words += (words.empty() ? "" : " ") + std::to_string(word);
      }
      named_value(ui, rows, "push", "  push words", words);
    }
  }
  rest_line(ui, rows, node.steps.count);
}

void barriers(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node) {
  const Capture& capture = *workspace.document.capture();
  bool first = true;
  const auto scope = ui.scope("barrier");
  for (std::uint32_t b = 0; b < capture.barriers.size(); ++b) {
    const Capture::Barrier& barrier = capture.barriers[b];
    if (capture.steps[barrier.before_step].node != node) {
      continue;
    }
    if (first) {
      heading(ui, rows, "Barriers before it");
      first = false;
    }
    const auto own = ui.scope(b);
    named_value(ui, rows, "kind",
                barrier.emitted    ? "emitted"
                : barrier.required ? "missing"
                                   : "not needed",
                barrier.kind + "  " + bytes_text(barrier.size_bytes),
                {.font = FontKind::mono,
                 .colour = barrier.required == barrier.emitted ? Colour::text : Colour::error});
    ui.paragraph("reason", barrier.reason, Colour::dim);
    if (barrier.cause_src && capture.steps[*barrier.cause_src].node) {
      node_link(ui, workspace, rows.next(), *capture.steps[*barrier.cause_src].node, "waits for");
    }
  }
}

}  // namespace

void inspect_times(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t node) {
  heading(ui, rows, "Times");
  const CaptureStatistics& statistics = workspace.document.statistics();
  const NodeTiming* const timing = timing_of(statistics, node);
  if (timing == nullptr) {
    ui.text_in("no-times", rows.next(),
               statistics.nodes.empty() ? "No node was timed: TimingMode::node"
                                        : "This node has no times in the range.",
               {.colour = Colour::dim});
    return;
  }
  // The long tail is counted, not drawn: it would squeeze the rest together.
  const std::uint64_t tail = timing->p95_ns +
                             2 * (timing->p95_ns - std::min(timing->p50_ns, timing->p95_ns)) +
                             timing->p50_ns / 4;
  std::vector<PlotBar> bars;
  std::uint64_t beyond = 0;
  for (const HistogramBucket& bucket : workspace.document.histogram()) {
    if (bucket.low_ns > tail) {
      beyond += bucket.count;
    } else {
      bars.push_back({static_cast<double>(bucket.low_ns), static_cast<double>(bucket.high_ns),
                      static_cast<double>(bucket.count)});
    }
  }
  if (!bars.empty()) {
    const PlotMarker markers[] = {
        {static_cast<double>(timing->p50_ns), "p50 " + duration_text(timing->p50_ns), Colour::ok},
        {static_cast<double>(timing->p95_ns), "p95 " + duration_text(timing->p95_ns),
         Colour::warning}};
    draw_histogram(ui, "histogram", rows.next(ui.px(kHistogramHeight)), bars, markers,
                   [](double ns) { return duration_text(whole_ns(ns)); });
  }
  const auto scope = ui.scope("time");
  if (beyond > 0) {
    named_value(ui, rows, "beyond", "beyond",
                count_text(beyond) + " longer than " + duration_text(tail));
  }
  named_value(ui, rows, "p50", "p50", duration_text(timing->p50_ns));
  named_value(ui, rows, "p95", "p95", duration_text(timing->p95_ns));
  named_value(ui, rows, "count", "replays", count_text(timing->count));
  named_value(ui, rows, "mean", "mean",
              duration_text(whole_ns(timing->mean_ns)) + " \xC2\xB1 " +
                  duration_text(whole_ns(timing->stddev_ns)));
  named_value(ui, rows, "extremes", "min, max",
              duration_text(timing->min_ns) + ", " + duration_text(timing->max_ns));
  named_value(ui, rows, "share", "p50 share", percent_text(share_of(statistics, *timing)));
  const Capture::Node& of = workspace.document.capture()->nodes[node];
  const double seconds = static_cast<double>(timing->p50_ns) / 1e9;
  if (const auto bytes = bytes_of(of); bytes && seconds > 0) {
    named_value(
        ui, rows, "bytes", "memory",
        rate_text(static_cast<double>(*bytes) / seconds, "B/s") + " of " + bytes_text(*bytes));
  }
  if (of.flops && *of.flops > 0 && seconds > 0) {
    named_value(ui, rows, "flops", "arithmetic",
                rate_text(static_cast<double>(*of.flops) / seconds, "FLOP/s") + " of " +
                    count_text(*of.flops));
  }
  if (timing->below_bias) {
    ui.text_in("below-bias", rows.next(), "mostly the cost of measuring",
               {.colour = Colour::warning});
  }
}

void inspect_source(Ui& ui, Workspace& workspace, Rows& rows, const Capture::Node& node) {
  heading(ui, rows, "Source");
  if (node.source_file.empty()) {
    ui.text_in("source", rows.next(), "The database names none.", {.colour = Colour::dim});
    return;
  }
  ui.text_in(
      "source", rows.next(),
      short_source_text(node) + (node.source_function.empty() ? "" : " in " + node.source_function),
      {.font = FontKind::mono});
  if (workspace.sources.find(node.source_file).outside) {
    draw_source_question(ui, workspace, node.source_file);
    return;
  }
  const SourceFile& file = workspace.sources.find(node.source_file);
  if (file.lines.empty()) {
    std::string text = file.problem + " It is named " + node.source_file + ".";
    for (const auto& root : workspace.sources.roots()) {
      text += "\n" + root.string();
    }
    ui.paragraph("source-problem", text, Colour::dim);
    return;
  }
  if (node.source_line == 0 || node.source_line > file.lines.size()) {
    ui.paragraph("source-problem",
                 "The file has " + count_text(file.lines.size()) + " lines: another version of it.",
                 Colour::warning);
    return;
  }
  const std::string edited = edited_since(file, workspace.document.capture()->summary.start_utc);
  if (!edited.empty()) {
    ui.paragraph("source-edited", edited, Colour::warning);
  }
  const auto scope = ui.scope("line");
  const std::size_t line = node.source_line;
  const std::size_t first = line > kLinesAround ? line - kLinesAround : 1;
  const std::size_t last = std::min(line + kLinesAround, file.lines.size());
  const float number_width = ui.text_size(std::to_string(last), FontKind::mono).x + ui.px(10);
  for (std::size_t l = first; l <= last; ++l) {
    const Box row = rows.next(ui.px(19));
    if (l == line) {
      ui.fill(row, ui.colour(Colour::selection), ui.px(2));
    }
    ui.text_in("", {row.min, {row.min.x + number_width - ui.px(6), row.max.y}}, std::to_string(l),
               {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
    ui.text_in(std::to_string(l), {{row.min.x + number_width, row.min.y}, row.max},
               file.lines[l - 1],
               {.font = FontKind::mono, .colour = l == line ? Colour::text : Colour::dim});
  }
}

void inspect_node(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t index) {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  const Capture::Node& node = capture->nodes[index];
  const Box title = rows.next(ui.px(28));
  const float middle = (title.min.y + title.max.y) / 2, half = ui.px(8);
  ui.fill({{title.min.x, middle - half}, {title.min.x + ui.px(5), middle + half}},
          ui.colour(family_colour(node.family)), ui.px(1));
  ui.text_in("title", {{title.min.x + ui.px(12), title.min.y}, title.max},
             "#" + std::to_string(index) + " " + node.op, {.font = FontKind::semibold});
  scope_links(ui, workspace, rows, index);
  if (!node.label.empty() && node.label != node.scope.substr(node.scope.rfind('/') + 1)) {
    named_value(ui, rows, "label", "label", node.label);
  }
  named_value(ui, rows, "level", "level", std::to_string(node.level));
  inspect_times(ui, workspace, rows, index);
  inspect_source(ui, workspace, rows, node);
  attributes(ui, rows, node);
  inspect_operands(ui, workspace, rows, index);
  step_rows(ui, rows, *capture, node);
  barriers(ui, workspace, rows, index);
}

}  // namespace reprise::debugger
