#include "debugger/views/nodes_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/model/sql_text.h"
#include "debugger/ui/icons.h"
#include "debugger/views/selection_actions.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

const TableOrder kNodesInOrder{"index", false};
constexpr float kNarrowNodes = 560;  // of the panel, at 1x

TableCell time_cell(const NodeTiming* timing, std::uint64_t NodeTiming::*member) {
  return timing == nullptr ? TableCell{.text = "\xE2\x80\x94", .colour = Colour::dim}
                           : number_cell(duration_text(timing->*member));
}

}  // namespace

const std::vector<PanelColumn<NodesPanel>>& NodesPanel::columns() {
  using P = NodesPanel;
  using Node = std::uint32_t;
  constexpr Align kLeft = Align::left, kRight = Align::right;
  constexpr FontKind kText = FontKind::regular, kMono = FontKind::mono;
  const auto of = [](std::string Capture::Node::*member) {
    return sort_by<P>(
        [member](const P& p, Node n) -> std::string_view { return p.capture_->nodes[n].*member; });
  };
  const auto timed = [](std::uint64_t NodeTiming::*member) {
    return sort_by<P>([member](const P& p, Node n) {
      const NodeTiming* const timing = timing_of(*p.statistics_, n);
      return timing == nullptr ? 0 : timing->*member;
    });
  };
  static const std::vector<PanelColumn<P>> kColumns = {
      {{"index", "#", 40, kRight, kMono},
       [](const P&, Node n) { return dim_cell(std::to_string(n)); },
       sort_by<P>([](const P&, Node n) { return n; })},
      {{"op", "Op", 120, kLeft, kText},
       [](const P& p, Node n) { return p.op_cell(n); },
       of(&Capture::Node::op)},
      {.header = {"scope", "Scope", 0, kLeft, kText},
       .cell = [](const P& p, Node n) { return dim_cell(p.capture_->nodes[n].scope); },
       .sort = of(&Capture::Node::scope),
       .from_width = 360},
      {{"p50", "p50", 76, kRight, kMono},
       [](const P& p, Node n) {
         return time_cell(timing_of(*p.statistics_, n), &NodeTiming::p50_ns);
       },
       timed(&NodeTiming::p50_ns),
       true},
      {{"p95", "p95", 76, kRight, kMono},
       [](const P& p, Node n) {
         return time_cell(timing_of(*p.statistics_, n), &NodeTiming::p95_ns);
       },
       timed(&NodeTiming::p95_ns),
       true,
       520},
      {{"share", "p50 share", 98, kRight, kMono},
       [](const P& p, Node n) { return p.share_cell(n); },
       timed(&NodeTiming::p50_ns),
       true},
      {.header = {"barrier", icon::kBarrier, 34, Align::centre, kText},
       .cell = [](const P& p, Node n) { return dim_cell(p.barriers_[n] ? icon::kBarrier : ""); },
       .sort = sort_by<P>([](const P& p, Node n) { return p.barriers_[n] ? 1 : 0; }),
       .from_width = 560},
      {.header = {"kernel", "Kernel", 0, kLeft, kMono},
       .cell = [](const P& p,
                  Node n) { return dim_cell(kernels_text(*p.capture_, p.capture_->nodes[n])); },
       .sort = sort_by<P>(
           [](const P& p, Node n) { return kernels_text(*p.capture_, p.capture_->nodes[n]); }),
       .from_width = 760},
      {.header = {"source", "Source", 0, kLeft, kMono},
       .cell = [](const P& p, Node n) { return dim_cell(short_source_text(p.capture_->nodes[n])); },
       .sort = sort_by<P>([](const P& p, Node n) {
         const Capture::Node& node = p.capture_->nodes[n];
         return std::pair(std::string_view(node.source_file), node.source_line);
       }),
       .from_width = 900}};
  return kColumns;
}

void NodesPanel::refresh(const Workspace& workspace) {
  statistics_ = &workspace.document.statistics();
  if (workspace.document.capture() != capture_) {
    capture_ = workspace.document.capture();
    barriers_ = nodes_with_barriers(*capture_);
  } else if (workspace.document.revision() == revision_ && workspace.filter == filter_text_) {
    return;
  }
  revision_ = workspace.document.revision();
  filter_text_ = workspace.filter;
  NodeFilter typed(filter_text_);
  problem_ = typed.problem();
  filter_ = problem_ ? filter_ : std::move(typed);  // while it is typed, the last that made sense
  nodes_ = filter_.nodes(*capture_, *statistics_);
  table_.sort(*this, nodes_, kNodesInOrder);
}

void NodesPanel::refresh_bindings(Workspace& workspace) {
  workspace.show_bindings();
  const auto& bindings = workspace.bindings;
  if (std::exchange(bindings_, bindings.revision()) != bindings.revision()) {
    stale_ = bindings.value() == nullptr ? std::vector<bool>()
                                         : nodes_with_stale_bindings(*capture_, *bindings.value());
  }
}

void NodesPanel::refresh_numbers(Workspace& workspace) {
  workspace.show_numbers();
  if (std::exchange(numbers_, workspace.numbers.revision()) != workspace.numbers.revision()) {
    const TensorStatistics* const numbers = workspace.numbers.value();
    not_finite_ = numbers == nullptr ? std::vector<bool>() : nodes_not_finite(*capture_, *numbers);
  }
}

void NodesPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  refresh_numbers(workspace);
  refresh_bindings(workspace);
  draw_filter(ui, workspace);
  if (workspace.document.statistics().nodes.empty()) {
    draw_no_times(ui);
  }
  draw_rows(ui, workspace);
}

void NodesPanel::draw_filter(Ui& ui, Workspace& workspace) {
  const Box row = ui.rest();
  const std::string count = count_text(nodes_.size()) + " of " + count_text(capture_->nodes.size());
  const float count_width = ui.text_size(count, FontKind::mono).x + ui.px(16);
  const float count_left = row.max.x - count_width;
  const float top = row.min.y + ui.px(4);
  ImGui::SetCursorScreenPos({row.min.x + ui.px(4), top});
  ui.input("filter", "op:matmul  p95>100us  scope:layer.3  barrier", workspace.filter,
           count_left - row.min.x - ui.px(4));
  const float bottom = std::max(ImGui::GetItemRectMax().y, top + ui.row_height());
  ui.text_in("count", {{count_left, top}, {row.max.x - ui.px(8), bottom}}, count,
             {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
  ImGui::SetCursorScreenPos({row.min.x, bottom + ui.px(4)});
  if (problem_) {
    ImGui::Indent(ui.px(8));
    ui.paragraph(
        "problem",
        "At character " + std::to_string(problem_->position + 1) + ": " + problem_->message,
        Colour::error);
    ImGui::Unindent(ui.px(8));
  }
}

TableCell NodesPanel::op_cell(std::uint32_t n) const {
  const Capture::Node& node = capture_->nodes[n];
  const bool stale = n < stale_.size() && stale_[n];
  const bool bad = n < not_finite_.size() && not_finite_[n];
  return {.text = (stale || bad ? std::string(icon::kWarning) + " " : "") + node.op,
          .colour = stale ? Colour::error
                    : bad ? Colour::nan
                          : Colour::text,
          .mark = family_colour(node.family)};
}

TableCell NodesPanel::share_cell(std::uint32_t n) const {
  const NodeTiming* const timing = timing_of(*statistics_, n);
  if (timing == nullptr) {
    return time_cell(timing, &NodeTiming::p50_ns);
  }
  TableCell cell = number_cell(percent_text(share_of(*statistics_, *timing)));
  cell.bar = static_cast<double>(timing->p50_ns) /
             static_cast<double>(std::max<std::uint64_t>(statistics_->max_p50_ns, 1));
  return cell;
}

void NodesPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const float width = ui.rest().width() / ui.scale();
  table_.choose(width, !statistics_->nodes.empty());
  if (width < kNarrowNodes) {
    table_.headers()[1].width = 0;  // the op takes a part of what is left
  }
  const TableRows rows{
      .selected = [&](std::size_t row) { return workspace.selection.current().holds(nodes_[row]); },
      .follow = workspace.selection.revision(),
      .usual_order = kNodesInOrder,
      .none = "No node passes the filter (" + filter_text_ + ")."};
  const TableEvents events = table_.draw(ui, "table", *this, nodes_, rows);
  if (events.sort_changed) {
    std::sort(nodes_.begin(), nodes_.end());
    table_.sort(*this, nodes_, kNodesInOrder);
  }
  if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    workspace.select_node(nodes_[*row]);
  }
  draw_context_menu(ui, events.right_clicked.has_value(),
                    [&] { return selection_menu(workspace); });
}

Actions NodesPanel::actions(Workspace& workspace) {
  return row_actions("node", row_of(nodes_, workspace.selection.current().node),
                     current_rows(workspace, capture_, nodes_.size()), [&](std::size_t to) {
                       workspace.select_node(nodes_[to]);
                       table_.scroll_to = to;
                     });
}

std::string NodesPanel::sql(const Workspace& workspace) const {
  const auto capture = workspace.document.capture();
  const TableOrder order = table_.order(kNodesInOrder);
  const std::string& by = order.column;
  return "SELECT idx AS node, op, scope, p50_ns / 1e3 AS p50_us, p95_ns / 1e3 AS p95_us,\n"
         "  round(100 * share, 2) AS pct, barrier, kernel, source\nFROM " +
         node_rows_sql(capture->summary.id, shown_times(workspace.document)) + "\nWHERE " +
         filter_.where() + "\nORDER BY " +
         (by == "index"                  ? "idx"
          : by == "p50" || by == "share" ? "p50_ns"
          : by == "p95"                  ? "p95_ns"
                                         : by) +
         (order.descending ? " DESC" : "") + ", idx";
}

}  // namespace reprise::debugger
