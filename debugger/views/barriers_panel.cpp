#include "debugger/views/barriers_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/views/choice_row.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {

namespace {
constexpr float kNodeWidth = 170, kRoomy = 1200;  // at 1x; narrower panels share what is left
}

struct BarriersPanel::ColumnDef {
  TableColumn column;
  float from_width;  // of the panel at 1x: narrower ones leave it out
  std::optional<BarrierOrder> order;
};

/// In the order of Column.
const std::vector<BarriersPanel::ColumnDef>& BarriersPanel::column_defs() {
  constexpr Align kRight = Align::right;
  constexpr Align kLeft = Align::left;
  constexpr FontKind kMono = FontKind::mono;
  constexpr FontKind kText = FontKind::regular;
  static const std::vector<ColumnDef> kDefs = {
      {{"index", "#", 44, kRight, kMono, false}, 480, {}},
      {{"cost", "At most", 84, kRight, kMono, true}, 420, BarrierOrder::cost},
      {{"before", "Before", 78, kRight, kMono, false}, 1450, {}},
      {{"after", "After", 78, kRight, kMono, false}, 1450, {}},
      {{"critical", "Critical", 66, kLeft, kText, false}, 700, {}},
      {{"step", "Before step", 108, kRight, kMono, true}, 0, BarrierOrder::step},
      {{"node", "Node", kNodeWidth, kLeft, kText, false}, 0, {}},
      {{"cause", "Waits for", kNodeWidth, kLeft, kText, false}, 0, {}},
      {{"kind", "Kind", 56, kLeft, kMono, true}, 0, BarrierOrder::kind},
      {{"emitted", "Emitted", 84, kLeft, kText, true}, 0, BarrierOrder::verdict},
      {{"tensors", "Tensors", 150, kLeft, kText, false}, 900, {}},
      {{"size", "Size", 84, kRight, kMono, true}, 560, BarrierOrder::size},
      {{"reason", "Reason", 0, kLeft, kText, false}, 1200, {}}};
  return kDefs;
}

void BarriersPanel::refresh(const Workspace& workspace) {
  const bool is_new = capture_ != workspace.document.capture();
  if (is_new || revision_ != workspace.document.revision()) {
    revision_ = workspace.document.revision();
    const Capture& capture = *workspace.document.capture();
    times_ = barrier_times(capture, workspace.document.statistics());
    timed_ = std::ranges::any_of(times_, [](const auto& times) { return times.has_value(); });
    if (!is_new) {
      sort();
    }
  }
  if (!is_new) {
    return;
  }
  capture_ = workspace.document.capture();
  counts_ = counts_of(capture_->barriers);
  tensors_.clear();
  tensors_.reserve(capture_->barriers.size());
  for (const Capture::Barrier& barrier : capture_->barriers) {
    tensors_.push_back(tensors_text(*capture_, barrier));
  }
  filter_ = 0;
  at_.reset();
  sort();
}

TableOrder BarriersPanel::usual_order() const {
  return timed_ ? TableOrder{"cost", true} : TableOrder{"step", false};
}

void BarriersPanel::sort() {
  const auto& defs = column_defs();
  const auto def_of = [&](const TableOrder& order) {
    return std::ranges::find(
        defs, order.column, [](const ColumnDef& def) -> const auto& { return def.column.id; });
  };
  TableOrder order = table_.arranged.order.value_or(usual_order());
  auto def = def_of(order);
  if (def == defs.end() || !def->order || (!timed_ && def->order == BarrierOrder::cost)) {
    order = usual_order();
    def = def_of(order);
  }
  rows_ = barrier_rows(*capture_, static_cast<BarrierFilter>(filter_), *def->order,
                       order.descending, times_);
}

void BarriersPanel::choose_columns(const Ui& ui, float width) {
  shown_.clear();
  columns_.clear();
  for (std::size_t c = 0; c < column_defs().size(); ++c) {
    const ColumnDef& def = column_defs()[c];
    const auto column = static_cast<Column>(c);
    const bool of_times = column == Column::cost || column == Column::critical ||
                          column == Column::before || column == Column::after;
    if (width >= ui.px(def.from_width) && (timed_ || !of_times)) {
      shown_.push_back(column);
      columns_.push_back(def.column);
      if (def.column.width == kNodeWidth && width < ui.px(kRoomy)) {
        columns_.back().width = 0;
      }
    }
  }
}

void BarriersPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (capture_->barriers.empty()) {
    draw_empty_state(ui,
                     capture_->steps.empty() ? "The capture has no plan, and so no barriers."
                                             : "No step has to wait: the plan has no barriers.",
                     "");
    return;
  }
  draw_filter(ui);
  draw_rows(ui, workspace);
}

void BarriersPanel::draw_filter(Ui& ui) {
  const Box row = ui.rest();
  const float top = row.min.y + ui.px(4), bottom = top + ui.row_height();
  std::vector<Choice> choices;
  for (std::size_t f = 0; f < kBarrierFilters; ++f) {
    const char* const name = name_of(static_cast<BarrierFilter>(f));
    choices.push_back({name, std::string(name) + " " + count_text(counts_.shown[f])});
  }
  float left = 0;
  {
    const auto scope = ui.scope("filter");
    if (draw_choices(ui, {{row.min.x + ui.px(8), top}, {row.max.x - ui.px(8), bottom}}, choices,
                     filter_, left)) {
      sort();
    }
  }
  const std::string counts =
      count_text(counts_.required) + " required, " + count_text(counts_.emitted) + " emitted";
  ui.text_in("counts",
             {{left + ui.px(8), top}, {std::max(row.max.x - ui.px(8), left + ui.px(9)), bottom}},
             counts, {.colour = Colour::dim, .align = Align::right});
  ImGui::SetCursorScreenPos({row.min.x, bottom + ui.px(4)});
}

std::string BarriersPanel::node_text(std::optional<std::uint32_t> node) const {
  if (!node) {
    return {};
  }
  const Capture::Node& of = capture_->nodes[*node];
  return "#" + std::to_string(*node) + " " + of.op + (of.scope.empty() ? "" : "  ") + of.scope;
}

TableCell BarriersPanel::cell(std::uint32_t index, Column column) const {
  const Capture::Barrier& barrier = capture_->barriers[index];
  const auto dim = [](std::string text) {
    return TableCell{.text = std::move(text), .colour = Colour::dim};
  };
  const auto node_or_step = [&](std::optional<std::uint32_t> node,
                                std::optional<std::uint32_t> step) {
    return node   ? TableCell{.text = node_text(node)}
           : step ? dim(capture_->steps[*step].kind + " step " + std::to_string(*step))
                  : dim("");
  };
  switch (column) {
    case Column::index:
      return dim(std::to_string(index));
    case Column::step:
      return {.text = std::to_string(barrier.before_step)};
    case Column::node:
      return node_or_step(waiting_node(*capture_, barrier), barrier.before_step);
    case Column::kind:
      return {.text = barrier.kind};
    case Column::cost:
      return times_[index] ? number_cell(duration_text(times_[index]->cost_ns())) : TableCell{};
    case Column::critical:
      return times_[index] && times_[index]->critical
                 ? TableCell{.text = "yes", .colour = Colour::warning}
                 : dim(times_[index] ? "no" : "");
    case Column::before:
      return times_[index] ? number_cell(duration_text(times_[index]->before_ns)) : TableCell{};
    case Column::after:
      return times_[index] ? number_cell(duration_text(times_[index]->after_ns)) : TableCell{};
    case Column::emitted: {
      const BarrierVerdict verdict = verdict_of(barrier);
      const bool missing = verdict == BarrierVerdict::missing;
      return missing || verdict == BarrierVerdict::redundant
                 ? TableCell{.text = name_of(verdict),
                             .colour = missing ? Colour::error : Colour::warning}
                 : dim(barrier.emitted ? "yes" : "no");
    }
    case Column::cause:
      return node_or_step(cause_node(*capture_, barrier), barrier.cause_src);
    case Column::tensors:
      return {.text = tensors_[index]};
    case Column::size:
      return number_cell(bytes_text(barrier.size_bytes));
    case Column::reason:
      return dim(barrier.reason);
  }
  return {};
}

void BarriersPanel::draw_rows(Ui& ui, Workspace& workspace) {
  choose_columns(ui, ui.rest().width());
  const Selection& selected = workspace.selection.current();
  const TableRows rows{
      .count = rows_.size(),
      .id = [&](std::size_t row) { return rows_[row]; },
      .cell = [&](std::size_t row, std::size_t column) { return cell(rows_[row], shown_[column]); },
      .selected =
          [&](std::size_t row) {
            if (at_ && selected.node == waiting_node(*capture_, capture_->barriers[*at_])) {
              return at_ == rows_[row];  // of several before a node the one that was pointed at
            }
            const auto node = waiting_node(*capture_, capture_->barriers[rows_[row]]);
            return node && selected.holds(*node);
          },
      .follow = workspace.selection.revision(),
      .usual_order = usual_order(),
      .none = "No barrier of this plan is of that kind."};
  const TableEvents events = draw_table(ui, "table", columns_, rows, table_);
  if (events.sort_changed) {
    sort();
  } else if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select(workspace, *row);
  }
  draw_context_menu(ui, events.right_clicked.has_value(), [&] {
    Actions actions = selection_menu(workspace);
    const auto cause = at_ ? cause_node(*capture_, capture_->barriers[*at_]) : std::nullopt;
    actions.push_back({"Go to the node it waits for", "",
                       [&workspace, cause] { workspace.select_node(*cause); }, cause.has_value()});
    return actions;
  });
}

void BarriersPanel::select(Workspace& workspace, std::size_t row) {
  at_ = rows_[row];
  const Capture::Barrier& barrier = capture_->barriers[rows_[row]];
  const auto waiting = waiting_node(*capture_, barrier);
  if (const auto node = waiting ? waiting : cause_node(*capture_, barrier)) {
    workspace.select_node(*node);
  }
}

Actions BarriersPanel::actions(Workspace& workspace) {
  const auto found = std::ranges::find(rows_, at_);
  const auto row = found == rows_.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  return row_actions("barrier", row, rows_.size(), [&](std::size_t to) {
    select(workspace, to);
    table_.scroll_to = to;
  });
}

std::string BarriersPanel::sql(const Workspace& workspace) const {
  const std::string graph = std::to_string(workspace.document.capture()->summary.id.graph);
  return "SELECT b.ordinal, b.before_step, s.node_idx AS node, b.kind, b.required, b.emitted,\n"
         "  c.node_idx AS waits_for, p.kind AS pool, b.offset_bytes, b.size_bytes, b.reason\n"
         "FROM barriers b LEFT JOIN steps s ON s.graph_id = b.graph_id AND s.idx = b.before_step\n"
         "  LEFT JOIN steps c ON c.graph_id = b.graph_id AND c.idx = b.cause_src\n"
         "  LEFT JOIN pools p ON p.graph_id = b.graph_id AND p.idx = b.pool_idx\n"
         "WHERE b.graph_id = " +
         graph + "\nORDER BY b.ordinal";
}

}  // namespace reprise::debugger
