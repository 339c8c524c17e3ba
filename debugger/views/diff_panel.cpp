#include "debugger/views/diff_panel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/model/sql_text.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {
namespace {

constexpr float kLabel = 22;  // of a side, at 1x
constexpr const char* kAgainst = "reprise-debugger after.db --against before.db";

Colour colour_of(NodeChange change) {
  constexpr Colour kColours[] = {Colour::side_b, Colour::side_a, Colour::text,
                                 Colour::error,  Colour::ok,     Colour::warning};
  return kColours[static_cast<std::size_t>(change)];
}

enum Column : std::size_t {
  node_a,
  node_b,
  op,
  scope,
  difference,
  share,
  change,
  median_a,
  median_b,
  ratio,
  probability,
  p95_a,
  p95_b,
  numbers,
  details
};
const TableOrder kLargestChange{"difference", true};
struct ColumnDef {
  TableColumn column;
  bool timed;        // shown if nodes were timed
  float from_width;  // of the panel at 1x: narrower ones leave it out
  std::optional<DiffOrder> order{};
};

/// In the order of Column.
const std::vector<ColumnDef>& column_defs() {
  constexpr Align kLeft = Align::left, kRight = Align::right;
  constexpr FontKind kText = FontKind::regular, kMono = FontKind::mono;
  const auto sorts = [](const char* id, const char* title, float width, float from_width,
                        DiffOrder order, bool timed = true) {
    return ColumnDef{{id, title, width, kRight, kMono, true}, timed, from_width, order};
  };
  static const std::vector<ColumnDef> kDefs = {
      {{"node_a", "A", 38, kRight, kMono, false}, false, 900},
      sorts("node_b", "B", 44, 0, DiffOrder::recorded, false),
      {{"op", "Op", 110, kLeft, kText, false}, false, 0},
      {{"scope", "Scope", 0, kLeft, kText, false}, false, 0},
      sorts("difference", "B - A", 82, 0, DiffOrder::difference),
      {{"share", "of A", 78, kRight, kMono, false}, true, 0},
      {{"change", "", 86, kLeft, kText, false}, false, 0},
      sorts("median_a", "p50 A", 76, 0, DiffOrder::median_a),
      sorts("median_b", "p50 B", 76, 0, DiffOrder::median_b),
      sorts("ratio", "B/A", 62, 900, DiffOrder::ratio),
      {{"probability", "By chance", 84, kRight, kMono, false}, true, 1000},
      {{"p95_a", "p95 A", 78, kRight, kMono, false}, true, 1200},
      {{"p95_b", "p95 B", 78, kRight, kMono, false}, true, 1200},
      sorts("numbers", "Numbers", 84, 0, DiffOrder::numbers, false),
      {{"details", "Changed", 0, kLeft, kText, false}, false, 800}};
  return kDefs;
}

std::string side_text(const CaptureDiff::Side& side) {
  const RunFacts& run = side.run;
  std::string text = (side.graph.empty() ? "(unnamed)" : side.graph) + ", run " +
                     std::to_string(side.capture.id.run);
  if (!run.label.empty()) {
    text += " '" + run.label + "'";
  }
  text += ", " + (run.commit.empty()
                      ? "of an unknown commit"
                      : "commit " + run.commit.substr(0, 9) + (run.dirty ? " with changes" : ""));
  text += ", " + run.start_utc + ", " + side.device;
  return text;
}

std::string numbers_text(const std::optional<NumberDiff>& diff) {
  return !diff            ? ""
         : diff->equal()  ? "equal"
         : !diff->max_rel ? "differ"
                          : fmt::format("{:.1e}", *diff->max_rel);
}

std::string details_text(const NodeDiff& node) {
  std::string text;
  for (const std::string& what : node.changes) {
    text += (text.empty() ? "" : "; ") + what;
  }
  return text;
}

TableCell dim(std::string text) { return {.text = std::move(text), .colour = Colour::dim}; }

}  // namespace

void DiffPanel::refresh(Workspace& workspace) {
  if (capture_ != workspace.document.capture()) {
    capture_ = workspace.document.capture();
    choice_.forget();
    workspace.diff.forget();
  }
  choice_.refresh(workspace);
  if (const auto& chosen = choice_.chosen()) {
    workspace.diff.compare(*chosen, capture_->summary.id);
  } else {
    workspace.diff.forget();
  }
  if (diff_ != workspace.diff.diff() || revision_ != workspace.diff.revision()) {
    diff_ = workspace.diff.diff();
    revision_ = workspace.diff.revision();
    show();
  }
}

void DiffPanel::show() {
  std::vector<NodeChange> wanted;
  counts_.fill(0);
  rows_.clear();
  if (diff_ == nullptr) {
    return;
  }
  for (std::size_t c = 0; c < kNodeChanges; ++c) {
    const auto of = static_cast<NodeChange>(c);
    for (std::size_t row = 0; row < diff_->graph.nodes.size(); ++row) {
      counts_[c] += has(*diff_, row, of) ? 1U : 0U;
    }
    if (wanted_[c]) {
      wanted.push_back(of);
    }
  }
  const TableOrder order = table_.arranged.order.value_or(kLargestChange);
  const auto& defs = column_defs();
  const auto def = std::ranges::find(
      defs, order.column, [](const ColumnDef& of) -> const auto& { return of.column.id; });
  const auto by = def == defs.end() ? std::nullopt : def->order;
  rows_ = diff_rows(*diff_, wanted, by.value_or(DiffOrder::difference), order.descending);
  common_.clear();
  if (const auto common = common_factor(diff_->graph)) {
    common_ = common_factor_text(*common);
  }
  time_of_a_ = time_of_a_ns(diff_->graph);
  timed_ = std::any_of(diff_->graph.nodes.begin(), diff_->graph.nodes.end(),
                       [](const NodeDiff& node) { return node.ratio.has_value(); });
}

void DiffPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  const Box all = ui.rest();
  const float pad = ui.px(8), gap = ui.px(4), row = ui.row_height();
  float top = all.min.y + gap;
  const auto next = [&](float height) {
    const Box box{{all.min.x + pad, top}, {all.max.x - pad, top + height}};
    top += height + gap;
    ImGui::SetCursorScreenPos({all.min.x, top});
    return box;
  };
  choice_.draw(ui, workspace, next(row));
  if (!workspace.diff.other_problem().empty()) {
    ui.text_in("other_problem", next(row), workspace.diff.other_problem(),
               {.colour = Colour::error});
  }
  if (!choice_.chosen()) {
    draw_empty_state(ui,
                     choice_.has_any() ? "No other capture is of a graph of that name."
                                       : "There is no other capture to compare with.",
                     kAgainst);
  } else if (diff_ == nullptr) {
    const std::string& problem = workspace.diff.problem();
    draw_empty_state(ui, problem.empty() ? "Comparing" : problem, "");
  } else {
    draw_sides(ui, *diff_, next(2 * row));
    if (!common_.empty()) {
      ui.text_in("common", next(row), common_, {.font = FontKind::semibold});
    }
    draw_filter(ui, next(row));
    ImGui::SetCursorScreenPos({all.min.x, top});
    draw_rows(ui, workspace);
  }
}

void DiffPanel::draw_sides(Ui& ui, const CaptureDiff& diff, const Box& box) const {
  const float middle = (box.min.y + box.max.y) / 2;
  const auto side = [&](const char* id, const char* name, const CaptureDiff::Side& of,
                        std::optional<std::uint64_t> device_ns, Colour colour, float top,
                        float bottom) {
    const float split = box.min.x + ui.px(kLabel);
    ui.text_in("", {{box.min.x, top}, {split, bottom}}, name,
               {.font = FontKind::semibold, .colour = colour});
    ui.text_in(id, {{split, top}, {box.max.x, bottom}},
               (device_ns ? "p50 " + duration_text(*device_ns) + "   " : "") + side_text(of), {});
  };
  side("a", "A", diff.a, diff.graph.device_a_ns, Colour::side_a, box.min.y, middle);
  side("b", "B", diff.b, diff.graph.device_b_ns, Colour::side_b, middle, box.max.y);
}

void DiffPanel::draw_filter(Ui& ui, const Box& box) {
  const auto scope = ui.scope("filter");
  float left = box.min.x;
  for (std::size_t c = 0; c < kNodeChanges; ++c) {
    const char* const name = name_of(static_cast<NodeChange>(c));
    const std::string label = std::string(name) + " " + count_text(counts_[c]);
    const float width = ui.text_size(label).x + ui.px(17);
    if (left + width > box.max.x) {
      return;
    }
    ImGui::SetCursorScreenPos({left, box.min.y});
    if (ui.toggle(name, label, wanted_[c])) {
      show();
    }
    left += width + ui.px(3);
  }
  ui.text_in("count", {{left, box.min.y}, box.max},
             (timed_ ? "" : "not timed node by node on both sides   ") + count_text(rows_.size()) +
                 " of " + count_text(diff_->graph.nodes.size()),
             {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
}

TableCell DiffPanel::cell(std::uint32_t row, std::size_t column) const {
  const NodeDiff& node = diff_->graph.nodes[row];
  const auto time = [](const std::optional<NodeSide>& side, auto member) {
    return side && (*side).*member ? number_cell(duration_text(*((*side).*member))) : TableCell{};
  };
  const auto index = [](const std::optional<NodeSide>& side) {
    return dim(side ? std::to_string(side->node) : "");
  };
  switch (column) {
    case change:
      for (std::size_t c = 0; c < kNodeChanges; ++c) {
        const auto of = static_cast<NodeChange>(c);
        if (has(*diff_, row, of)) {
          const char* const glyph = of == NodeChange::added     ? "+ "
                                    : of == NodeChange::removed ? "- "
                                                                : "";
          // Where there is no room for what changed, it stands here.
          return {.text = of == NodeChange::changed && !details_shown_
                              ? details_text(node)
                              : std::string(glyph) + name_of(of),
                  .colour = colour_of(of),
                  .mark = colour_of(of)};
        }
      }
      return {};
    case node_a:
      return index(node.a);
    case node_b:
      return index(node.b);
    case op: {
      TableCell cell{.text = node.op};
      if (node.b && node.b->node < capture_->nodes.size()) {
        cell.mark = family_colour(capture_->nodes[node.b->node].family);
      }
      return cell;
    }
    case scope:
      return dim(node.scope);
    case median_a:
      return time(node.a, &NodeSide::median_ns);
    case median_b:
      return time(node.b, &NodeSide::median_ns);
    case difference: {
      const std::optional<double> ns = difference_ns(node);
      const char* const sign = !ns || *ns == 0 ? "" : *ns < 0 ? "-" : "+";
      return ns ? number_cell(sign + duration_text(whole_ns(std::abs(*ns)))) : TableCell{};
    }
    case share: {
      const std::optional<double> ns = difference_ns(node);
      if (!ns || time_of_a_ == 0) {
        return {};
      }
      const double of_a = *ns / static_cast<double>(time_of_a_);
      return number_cell((of_a > 0 ? "+" : of_a < 0 ? "-" : "") + percent_text(std::abs(of_a)));
    }
    case ratio: {
      const bool slower = has(*diff_, row, NodeChange::slower);
      const bool faster = has(*diff_, row, NodeChange::faster);
      return {.text = node.ratio ? fmt::format("{:.2f}", *node.ratio) : "",
              .colour = slower   ? Colour::error
                        : faster ? Colour::ok
                                 : Colour::text};
    }
    case probability:
      return dim(!node.probability           ? ""
                 : *node.probability < 0.001 ? "<0.001"
                                             : fmt::format("{:.3f}", *node.probability));
    case p95_a:
      return time(node.a, &NodeSide::p95_ns);
    case p95_b:
      return time(node.b, &NodeSide::p95_ns);
    case numbers: {
      const auto& found = diff_->numbers[row];
      return {.text = numbers_text(found),
              .colour = found && !found->equal() ? Colour::warning : Colour::dim};
    }
    default:
      return dim(details_text(node));
  }
}

void DiffPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const auto selected = workspace.selection.current().node;
  const float width = ui.rest().width();
  std::vector<std::size_t> shown;
  std::vector<TableColumn> columns;
  for (std::size_t c = 0; c < column_defs().size(); ++c) {
    const ColumnDef& def = column_defs()[c];
    if ((timed_ || !def.timed) && width >= ui.px(def.from_width)) {
      shown.push_back(c);
      columns.push_back(def.column);
    }
  }
  details_shown_ = shown.back() == details;
  const TableRows rows{
      .count = rows_.size(),
      .id = [&](std::size_t row) { return rows_[row]; },
      .cell = [&](std::size_t row, std::size_t column) { return cell(rows_[row], shown[column]); },
      .selected = [&](std::size_t row) { return selected && shown_node(row) == selected; },
      .follow = workspace.selection.revision(),
      .usual_order = kLargestChange,
      .none = "No node is one of these."};
  const TableEvents events = draw_table(ui, "table", columns, rows, table_);
  if (events.sort_changed) {
    show();
  } else if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select(workspace, *row);
  }
  draw_context_menu(ui, events.right_clicked.has_value(),
                    [&] { return selection_menu(workspace); });
}

std::optional<std::uint32_t> DiffPanel::shown_node(std::size_t row) const {
  const auto& b = diff_->graph.nodes[rows_[row]].b;
  return b && b->node < capture_->nodes.size() ? std::optional(b->node) : std::nullopt;
}

void DiffPanel::select(Workspace& workspace, std::size_t row) {
  at_ = rows_[row];
  if (const auto node = shown_node(row)) {
    workspace.select_node(*node);
  } else {
    workspace.notice = "Only A has that node.";
  }
}

Actions DiffPanel::actions(Workspace& workspace) {
  const auto found = std::ranges::find(rows_, at_);
  const auto row = found == rows_.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  return row_actions("difference", row, diff_ == nullptr ? 0 : rows_.size(), [&](std::size_t to) {
    select(workspace, to);
    table_.scroll_to = to;
  });
}

std::string DiffPanel::sql(const Workspace& workspace) const {
  const auto side = [](const std::string& schema, CaptureId id) {
    return "(SELECT n.idx, n.op, n.scope, row_number() OVER (PARTITION BY n.scope, n.op ORDER BY "
           "n.idx) AS ordinal, s.p50_ns, s.p95_ns\n  FROM " +
           schema + "nodes n LEFT JOIN " + schema +
           "node_stats s ON s.graph_id = n.graph_id AND s.idx = n.idx AND s.run_id = " +
           std::to_string(id.run) + " WHERE n.graph_id = " + std::to_string(id.graph) + ")";
  };
  const CaptureId b = workspace.document.capture()->summary.id;
  const CaptureOfFile a = choice_.chosen().value_or(CaptureOfFile{workspace.document.path(), b});
  const bool attached = a.path != workspace.document.path();
  return (attached ? "ATTACH " + sql_string(a.path.string()) + " AS other;\n" : "") +
         "SELECT b.idx AS node, a.idx AS node_a, b.op, b.scope, a.p50_ns / 1e3 AS p50_a_us,\n"
         "  b.p50_ns / 1e3 AS p50_b_us, 1.0 * b.p50_ns / a.p50_ns AS ratio\nFROM " +
         side("", b) + " b LEFT JOIN " + side(attached ? "other." : "", a.id) +
         " a\n  ON a.scope IS b.scope AND a.op = b.op AND a.ordinal = b.ordinal\nORDER BY b.idx";
}

}  // namespace reprise::debugger
