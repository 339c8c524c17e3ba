#include "debugger/views/passes_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/views/choice_row.h"

namespace reprise::debugger {
namespace {

constexpr float kGroupsWidth = 400;  // at 1x, and at most a part of the panel

}  // namespace

const std::vector<PanelColumn<PassesPanel, PassGroup>>& PassesPanel::group_columns() {
  using P = PassesPanel;
  constexpr Align kRight = Align::right;
  constexpr FontKind kMono = FontKind::mono;
  static const std::vector<PanelColumn<P, PassGroup>> kColumns = {
      {{"pass", "Pass"}, [](const P&, const PassGroup& of) { return TableCell{.text = of.pass}; }},
      {{"kind", "Kind"}, [](const P&, const PassGroup& of) { return dim_cell(of.kind); }},
      {{"decisions", "Decisions", 92, kRight, kMono},
       [](const P&, const PassGroup& of) { return dim_cell(count_text(of.decisions)); }},
      {{"applied", "Applied", 84, kRight, kMono},
       [](const P&, const PassGroup& of) { return TableCell{.text = count_text(of.applied)}; }}};
  return kColumns;
}

const std::vector<PanelColumn<PassesPanel>>& PassesPanel::decision_columns() {
  using P = PassesPanel;
  using Row = std::uint32_t;
  static const std::vector<PanelColumn<P>> kColumns = {
      {{"pass", "Pass", 110}, [](const P& p, Row row) { return dim_cell(p.decision(row).pass); }},
      {{"kind", "Kind", 90}, [](const P& p, Row row) { return dim_cell(p.decision(row).kind); }},
      {{"node", "Node", 150},
       [](const P& p, Row row) {
         const Capture::Node* const of = p.node_of(row);
         return of == nullptr
                    ? TableCell{}
                    : TableCell{.text = "#" + std::to_string(*p.decision(row).node) + " " + of->op,
                                .mark = family_colour(of->family)};
       }},
      {{"scope", "Scope"},
       [](const P& p, Row row) {
         const Capture::Node* const of = p.node_of(row);
         return dim_cell(of == nullptr ? "" : of->scope);
       }},
      {{"applied", "Applied", 76},
       [](const P& p, Row row) {
         return p.decision(row).applied ? TableCell{.text = "yes", .colour = Colour::ok}
                                        : dim_cell("no");
       }},
      {{"estimate", "Saves", 92, Align::right, FontKind::mono},
       [](const P& p, Row row) { return number_cell(estimate_text(p.decision(row))); }},
      {{"reason", "Reason"},
       [](const P& p, Row row) { return TableCell{.text = p.decision(row).reason}; }}};
  return kColumns;
}

void PassesPanel::refresh(const Workspace& workspace) {
  if (capture_ == workspace.document.capture()) {
    return;
  }
  capture_ = workspace.document.capture();
  list_ = make_pass_list(*capture_);
  group_.reset();
  at_.reset();
  filter_ = 0;
  show();
}

void PassesPanel::show() {
  rows_ = pass_rows(*capture_, list_, static_cast<PassFilter>(filter_), group_);
}

void PassesPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (capture_->pass_decisions.empty()) {
    draw_empty_state(ui, "No pass decided anything about this graph.", "");
    return;
  }
  const Box all = ui.rest();
  const float width = std::min(ui.px(kGroupsWidth), all.width() * 0.4F);
  const float split = all.min.x + width, gap = ui.px(4);
  draw_groups(ui, {all.min, {split, all.max.y}});
  const float bottom = all.min.y + gap + ui.row_height();
  draw_filter(ui, {{split + ui.px(8), all.min.y + gap}, {all.max.x - ui.px(8), bottom}});
  draw_decisions(ui, workspace, {{split + gap, bottom + gap}, all.max});
}

void PassesPanel::draw_groups(Ui& ui, const Box& box) {
  const TableRows rows{.id = [](std::size_t row) { return row; },
                       .selected = [&](std::size_t row) { return group_ == row; }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      groups_table_.draw(ui, "groups", *this, list_.groups, rows, {box.width(), box.height()});
  if (events.clicked) {
    const auto clicked = static_cast<std::uint32_t>(*events.clicked);
    group_ = group_ == clicked ? std::nullopt : std::optional(clicked);
    show();
  }
}

void PassesPanel::draw_filter(Ui& ui, const Box& box) {
  std::vector<Choice> choices;
  for (const char* const id : {"all", "applied", "refused"}) {
    choices.push_back({id, name_of(static_cast<PassFilter>(choices.size()))});
  }
  float left = 0;
  {
    const auto own = ui.scope("filter");
    if (draw_choices(ui, box, choices, filter_, left)) {
      show();
    }
  }
  ui.text_in("count", {{left + ui.px(4), box.min.y}, {std::max(box.max.x, left + 1), box.max.y}},
             count_text(rows_.size()) + " of " + count_text(capture_->pass_decisions.size()),
             {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
}

void PassesPanel::draw_decisions(Ui& ui, Workspace& workspace, const Box& box) {
  const Selection& selected = workspace.selection.current();
  const TableRows rows{.selected = [&](std::size_t row) {
    const auto node = capture_->pass_decisions[rows_[row]].node;
    return at_ == rows_[row] || (node && selected.holds(*node));
  }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      table_.draw(ui, "table", *this, rows_, rows, {box.width(), box.height()});
  if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select(workspace, rows_[*row]);
  }
  menu_.draw(ui, workspace, events, at_ && capture_->pass_decisions[*at_].node);
}

void PassesPanel::select(Workspace& workspace, std::uint32_t decision) {
  at_ = decision;
  if (const auto node = capture_->pass_decisions[decision].node) {
    workspace.select_node(*node);
  }
}

Actions PassesPanel::actions(Workspace& workspace) {
  return row_actions("decision", row_of(rows_, at_),
                     current_rows(workspace, capture_, rows_.size()), [&](std::size_t to) {
                       select(workspace, rows_[to]);
                       table_.scroll_to = to;
                     });
}

std::string PassesPanel::sql(const Workspace& workspace) const {
  const std::string graph = std::to_string(workspace.document.capture()->summary.id.graph);
  return "SELECT p.pass, p.kind, p.node_idx AS node, n.op, n.scope, p.applied,\n"
         "  p.estimate_ns / 1e3 AS saves_us, p.reason\n"
         "FROM pass_decisions p LEFT JOIN nodes n ON n.graph_id = p.graph_id AND n.idx ="
         " p.node_idx\n"
         "WHERE p.graph_id = " +
         graph + "\nORDER BY p.pass, p.ordinal";
}

}  // namespace reprise::debugger
