#include "debugger/views/barriers_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/views/choice_row.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {

namespace {
constexpr float kNodeWidth = 170, kWide = 1200;  // at 1x; narrower panels share what is left
}

const std::vector<PanelColumn<BarriersPanel>>& BarriersPanel::columns() {
  using P = BarriersPanel;
  constexpr Align kLeft = Align::left, kRight = Align::right;
  constexpr FontKind kText = FontKind::regular, kMono = FontKind::mono;
  const auto by = [](BarrierOrder order) {
    return [order](const P& p, std::vector<std::uint32_t>& rows, bool descending) {
      const bool known = p.timed_ || order != BarrierOrder::cost;
      rows = barrier_rows(*p.capture_, static_cast<BarrierFilter>(p.filter_),
                          known ? order : BarrierOrder::step, known && descending, p.times_);
    };
  };
  static const std::vector<PanelColumn<P>> kColumns = {
      {.header = {"index", "#", 44, kRight, kMono},
       .cell = [](const P&, std::uint32_t b) { return dim_cell(std::to_string(b)); },
       .from_width = 480},
      {{"cost", "At most", 84, kRight, kMono},
       [](const P& p, std::uint32_t b) {
         const auto& times = p.times_[b];
         return times ? number_cell(duration_text(times->cost_ns())) : TableCell{};
       },
       by(BarrierOrder::cost),
       true,
       420},
      {{"before", "Before", 78, kRight, kMono},
       [](const P& p, std::uint32_t b) {
         return p.times_[b] ? number_cell(duration_text(p.times_[b]->before_ns)) : TableCell{};
       },
       {},
       true,
       1450},
      {{"after", "After", 78, kRight, kMono},
       [](const P& p, std::uint32_t b) {
         return p.times_[b] ? number_cell(duration_text(p.times_[b]->after_ns)) : TableCell{};
       },
       {},
       true,
       1450},
      {{"critical", "Critical", 66, kLeft, kText},
       [](const P& p, std::uint32_t b) {
         return p.times_[b] && p.times_[b]->critical
                    ? TableCell{.text = "yes", .colour = Colour::warning}
                    : dim_cell(p.times_[b] ? "no" : "");
       },
       {},
       true,
       700},
      {{"step", "Before step", 108, kRight, kMono},
       [](const P& p, std::uint32_t b) {
         return TableCell{.text = std::to_string(p.capture_->barriers[b].before_step)};
       },
       by(BarrierOrder::step)},
      {{"node", "Node", kNodeWidth, kLeft, kText},
       [](const P& p, std::uint32_t b) {
         const Capture::Barrier& barrier = p.capture_->barriers[b];
         return p.node_cell(waiting_node(*p.capture_, barrier), barrier.before_step);
       }},
      {{"cause", "Waits for", kNodeWidth, kLeft, kText},
       [](const P& p, std::uint32_t b) {
         const Capture::Barrier& barrier = p.capture_->barriers[b];
         return p.node_cell(cause_node(*p.capture_, barrier), barrier.cause_src);
       }},
      {{"kind", "Kind", 56, kLeft, kMono},
       [](const P& p, std::uint32_t b) { return TableCell{.text = p.capture_->barriers[b].kind}; },
       by(BarrierOrder::kind)},
      {{"emitted", "Emitted", 84, kLeft, kText},
       [](const P& p, std::uint32_t b) {
         const BarrierVerdict verdict = verdict_of(p.capture_->barriers[b]);
         const bool missing = verdict == BarrierVerdict::missing;
         return missing || verdict == BarrierVerdict::redundant
                    ? TableCell{.text = name_of(verdict),
                                .colour = missing ? Colour::error : Colour::warning}
                    : dim_cell(p.capture_->barriers[b].emitted ? "yes" : "no");
       },
       by(BarrierOrder::verdict)},
      {.header = {"tensors", "Tensors", 150, kLeft, kText},
       .cell = [](const P& p, std::uint32_t b) { return TableCell{.text = p.tensors_[b]}; },
       .from_width = 900},
      {.header = {"size", "Size", 84, kRight, kMono},
       .cell =
           [](const P& p, std::uint32_t b) {
             return number_cell(bytes_text(p.capture_->barriers[b].size_bytes));
           },
       .sort = by(BarrierOrder::size),
       .from_width = 560},
      {.header = {"reason", "Reason", 0, kLeft, kText},
       .cell = [](const P& p, std::uint32_t b) { return dim_cell(p.capture_->barriers[b].reason); },
       .from_width = 1200}};
  return kColumns;
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

TableCell BarriersPanel::node_cell(std::optional<std::uint32_t> node,
                                   std::optional<std::uint32_t> step) const {
  if (!node) {
    return dim_cell(step ? capture_->steps[*step].kind + " step " + std::to_string(*step) : "");
  }
  const Capture::Node& of = capture_->nodes[*node];
  return {.text = "#" + std::to_string(*node) + " " + of.op + (of.scope.empty() ? "" : "  ") +
                  of.scope};
}

void BarriersPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const float width = ui.rest().width() / ui.scale();
  table_.choose(width, timed_);
  for (TableColumn& header : table_.headers()) {
    header.width = header.width == kNodeWidth && width < kWide ? 0 : header.width;
  }
  const Selection& selected = workspace.selection.current();
  const TableRows rows{
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
  const TableEvents events = table_.draw(ui, "table", *this, rows_, rows);
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
  return row_actions("barrier", row_of(rows_, at_), current_rows(workspace, capture_, rows_.size()),
                     [&](std::size_t to) {
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
