#include "debugger/views/passes_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/views/choice_row.h"

namespace reprise::debugger {
namespace {

constexpr float kGroupsWidth = 400;  // at 1x, and at most a part of the panel

enum GroupColumn : std::size_t { group_pass, group_kind, group_decisions, group_applied };
const std::vector<TableColumn>& group_columns() {
  constexpr Align kRight = Align::right;
  constexpr FontKind kMono = FontKind::mono;
  static const std::vector<TableColumn> kColumns = {
      {"pass", "Pass", 0, Align::left, FontKind::regular, false},
      {"kind", "Kind", 0, Align::left, FontKind::regular, false},
      {"decisions", "Decisions", 92, kRight, kMono, false},
      {"applied", "Applied", 84, kRight, kMono, false}};
  return kColumns;
}

enum DecisionColumn : std::size_t {
  decision_pass,
  decision_kind,
  decision_node,
  decision_scope,
  decision_applied,
  decision_estimate,
  decision_reason
};
const std::vector<TableColumn>& decision_columns() {
  constexpr Align kLeft = Align::left;
  constexpr FontKind kText = FontKind::regular;
  static const std::vector<TableColumn> kColumns = {
      {"pass", "Pass", 110, kLeft, kText, false},
      {"kind", "Kind", 90, kLeft, kText, false},
      {"node", "Node", 150, kLeft, kText, false},
      {"scope", "Scope", 0, kLeft, kText, false},
      {"applied", "Applied", 76, kLeft, kText, false},
      {"estimate", "Saves", 92, Align::right, FontKind::mono, false},
      {"reason", "Reason", 0, kLeft, kText, false}};
  return kColumns;
}

TableCell dim_cell(std::string text) { return {.text = std::move(text), .colour = Colour::dim}; }

TableCell group_cell(const PassGroup& group, std::size_t column) {
  switch (column) {
    case group_pass:
      return {.text = group.pass};
    case group_kind:
      return dim_cell(group.kind);
    case group_decisions:
      return dim_cell(count_text(group.decisions));
    default:
      return {.text = count_text(group.applied)};
  }
}

}  // namespace

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
  const TableRows rows{
      .count = list_.groups.size(),
      .id = [](std::size_t row) { return row; },
      .cell = [&](std::size_t row,
                  std::size_t column) { return group_cell(list_.groups[row], column); },
      .selected = [&](std::size_t row) { return group_ == row; }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "groups", group_columns(), rows, groups_table_, {box.width(), box.height()});
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

TableCell PassesPanel::cell(std::uint32_t index, std::size_t column) const {
  const Capture::PassDecision& decision = capture_->pass_decisions[index];
  const Capture::Node* const of = decision.node ? &capture_->nodes[*decision.node] : nullptr;
  switch (column) {
    case decision_pass:
      return dim_cell(decision.pass);
    case decision_kind:
      return dim_cell(decision.kind);
    case decision_node: {
      TableCell cell;
      if (of != nullptr) {
        cell.text = "#" + std::to_string(*decision.node) + " " + of->op;
        cell.mark = family_colour(of->family);
      }
      return cell;
    }
    case decision_scope:
      return dim_cell(of == nullptr ? "" : of->scope);
    case decision_applied:
      return decision.applied ? TableCell{.text = "yes", .colour = Colour::ok} : dim_cell("no");
    case decision_estimate:
      return number_cell(estimate_text(decision));
    default:
      return {.text = decision.reason};
  }
}

void PassesPanel::draw_decisions(Ui& ui, Workspace& workspace, const Box& box) {
  const Selection& selected = workspace.selection.current();
  const TableRows rows{
      .count = rows_.size(),
      .id = [&](std::size_t row) { return rows_[row]; },
      .cell = [&](std::size_t row, std::size_t column) { return cell(rows_[row], column); },
      .selected =
          [&](std::size_t row) {
            const auto node = capture_->pass_decisions[rows_[row]].node;
            return at_ == rows_[row] || (node && selected.holds(*node));
          }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "table", decision_columns(), rows, table_, {box.width(), box.height()});
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
  const auto found = at_ ? std::ranges::find(rows_, *at_) : rows_.end();
  const auto row = found == rows_.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  return row_actions("decision", row, rows_.size(), [&](std::size_t to) {
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
