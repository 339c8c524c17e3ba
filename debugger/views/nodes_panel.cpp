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

struct ColumnDef {
  TableColumn column;
  bool timed;        // shown with node times only
  float from_width;  // of the panel at 1x: narrower ones leave it out
};

/// In the order of NodesPanel::Column.
const std::vector<ColumnDef>& column_defs() {
  constexpr Align kRight = Align::right;
  constexpr FontKind kMono = FontKind::mono;
  static const std::vector<ColumnDef> kDefs = {
      {{"index", "#", 40, kRight, kMono, true}, false, 0},
      {{"op", "Op", 120, Align::left, FontKind::regular, true}, false, 0},
      {{"scope", "Scope", 0, Align::left, FontKind::regular, true}, false, 360},
      {{"p50", "p50", 76, kRight, kMono, true}, true, 0},
      {{"p95", "p95", 76, kRight, kMono, true}, true, 520},
      {{"share", "p50 share", 98, kRight, kMono, true}, true, 0},
      {{"barrier", icon::kBarrier, 34, Align::centre, FontKind::regular, true}, false, 560},
      {{"kernel", "Kernel", 0, Align::left, kMono, true}, false, 760},
      {{"source", "Source", 0, Align::left, kMono, true}, false, 900}};
  return kDefs;
}

}  // namespace

void NodesPanel::choose_columns(const Ui& ui, float width, bool timed) {
  shown_.clear();
  columns_.clear();
  for (std::size_t c = 0; c < column_defs().size(); ++c) {
    const ColumnDef& def = column_defs()[c];
    if ((timed || !def.timed) && width >= ui.px(def.from_width)) {
      shown_.push_back(static_cast<Column>(c));
      columns_.push_back(def.column);
    }
  }
  if (width < ui.px(kNarrowNodes)) {
    columns_[1].width = 0;  // the op takes a part of what is left
  }
}

TableOrder NodesPanel::order() const { return table_.arranged.order.value_or(kNodesInOrder); }

NodesPanel::Column NodesPanel::sorted_by() const {
  const auto& defs = column_defs();
  const auto found = std::ranges::find(
      defs, order().column, [](const ColumnDef& def) -> const auto& { return def.column.id; });
  return found == defs.end() ? Column::index : static_cast<Column>(found - defs.begin());
}

void NodesPanel::sort(const CaptureStatistics& statistics) {
  const bool descending = order().descending;
  const auto by = [&](auto key) {
    using Value = decltype(key(0U));
    std::vector<std::pair<Value, std::uint32_t>> keyed;
    keyed.reserve(nodes_.size());
    for (const std::uint32_t node : nodes_) {
      keyed.emplace_back(key(node), node);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
      return descending ? b.first < a.first : a.first < b.first;
    });
    std::transform(keyed.begin(), keyed.end(), nodes_.begin(),
                   [](const auto& entry) { return entry.second; });
  };
  const auto timed = [&](std::uint64_t NodeTiming::*member) {
    by([&, member](std::uint32_t node) {
      const NodeTiming* const timing = timing_of(statistics, node);
      return timing == nullptr ? 0 : timing->*member;
    });
  };
  const auto node = [&](std::uint32_t n) -> const Capture::Node& { return capture_->nodes[n]; };
  switch (sorted_by()) {
    case Column::index:
      by([](std::uint32_t n) { return n; });
      break;
    case Column::op:
      by([&](std::uint32_t n) { return std::string_view(node(n).op); });
      break;
    case Column::scope:
      by([&](std::uint32_t n) { return std::string_view(node(n).scope); });
      break;
    case Column::p50:
    case Column::share:  // of the p50
      timed(&NodeTiming::p50_ns);
      break;
    case Column::p95:
      timed(&NodeTiming::p95_ns);
      break;
    case Column::barrier:
      by([&](std::uint32_t n) { return barriers_[n] ? 1 : 0; });
      break;
    case Column::kernel:
      by([&](std::uint32_t n) { return kernels_text(*capture_, node(n)); });
      break;
    case Column::source:
      by([&](std::uint32_t n) {
        return std::pair(std::string_view(node(n).source_file), node(n).source_line);
      });
      break;
  }
}

void NodesPanel::refresh(const Workspace& workspace) {
  const CaptureStatistics& statistics = workspace.document.statistics();
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
  nodes_ = filter_.nodes(*capture_, statistics);
  sort(statistics);
}

void NodesPanel::refresh_bindings(Workspace& workspace) {
  CaptureRead<Bindings>& bindings = workspace.bindings;
  if (bindings.show(capture_) || bindings_ != bindings.revision()) {
    bindings_ = bindings.revision();
    stale_ = bindings.found() == nullptr ? std::vector<bool>()
                                         : nodes_with_stale_bindings(*capture_, *bindings.found());
  }
}

void NodesPanel::refresh_numbers(Workspace& workspace) {
  const bool is_new = workspace.numbers.capture() != capture_;
  workspace.numbers.show(capture_);
  if (is_new || numbers_ != workspace.numbers.revision()) {
    numbers_ = workspace.numbers.revision();
    const TensorStatistics* const numbers = workspace.numbers.numbers();
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

TableCell NodesPanel::cell(std::uint32_t n, Column column,
                           const CaptureStatistics& statistics) const {
  const Capture::Node& node = capture_->nodes[n];
  const NodeTiming* const timing = timing_of(statistics, n);
  const auto time = [&](std::uint64_t NodeTiming::*member) {
    return timing == nullptr ? TableCell{.text = "\xE2\x80\x94", .colour = Colour::dim}
                             : number_cell(duration_text(timing->*member));
  };
  const auto dim = [](std::string text) {
    return TableCell{.text = std::move(text), .colour = Colour::dim};
  };
  switch (column) {
    case Column::index:
      return dim(std::to_string(n));
    case Column::op: {
      TableCell cell;
      cell.text = node.op;
      cell.mark = family_colour(node.family);
      if (n < stale_.size() && stale_[n]) {
        cell.text = std::string(icon::kWarning) + " " + node.op;
        cell.colour = Colour::error;
      } else if (n < not_finite_.size() && not_finite_[n]) {
        cell.text = std::string(icon::kWarning) + " " + node.op;
        cell.colour = Colour::nan;
      }
      return cell;
    }
    case Column::scope:
      return dim(node.scope);
    case Column::p50:
      return time(&NodeTiming::p50_ns);
    case Column::p95:
      return time(&NodeTiming::p95_ns);
    case Column::share: {
      if (timing == nullptr) {
        return time(&NodeTiming::p50_ns);
      }
      TableCell cell = number_cell(percent_text(share_of(statistics, *timing)));
      cell.bar = static_cast<double>(timing->p50_ns) /
                 static_cast<double>(std::max<std::uint64_t>(statistics.max_p50_ns, 1));
      return cell;
    }
    case Column::barrier:
      return dim(barriers_[n] ? icon::kBarrier : "");
    case Column::kernel:
      return dim(kernels_text(*capture_, node));
    case Column::source:
      return dim(short_source_text(node));
  }
  return {};
}

void NodesPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const CaptureStatistics& statistics = workspace.document.statistics();
  choose_columns(ui, ui.rest().width(), !statistics.nodes.empty());
  const TableRows rows{
      .count = nodes_.size(),
      .id = [&](std::size_t row) { return nodes_[row]; },
      .cell = [&](std::size_t row,
                  std::size_t column) { return cell(nodes_[row], shown_[column], statistics); },
      .selected = [&](std::size_t row) { return workspace.selection.current().holds(nodes_[row]); },
      .follow = workspace.selection.revision(),
      .usual_order = kNodesInOrder,
      .none = "No node passes the filter (" + filter_text_ + ")."};
  const TableEvents events = draw_table(ui, "table", columns_, rows, table_);
  if (events.sort_changed) {
    std::sort(nodes_.begin(), nodes_.end());
    sort(statistics);
  }
  if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    workspace.select_node(nodes_[*row]);
  }
  draw_context_menu(ui, events.right_clicked.has_value(),
                    [&] { return selection_menu(workspace); });
}

Actions NodesPanel::actions(Workspace& workspace) {
  std::optional<std::size_t> row;
  if (const auto node = workspace.selection.current().node) {
    const auto found = std::find(nodes_.begin(), nodes_.end(), *node);
    if (found != nodes_.end()) {
      row = static_cast<std::size_t>(found - nodes_.begin());
    }
  }
  return row_actions("node", row, nodes_.size(), [&](std::size_t to) {
    workspace.select_node(nodes_[to]);
    table_.scroll_to = to;
  });
}

std::string NodesPanel::sql(const Workspace& workspace) const {
  const auto capture = workspace.document.capture();
  static constexpr const char* kOrder[] = {"idx",    "op",      "scope",  "p50_ns", "p95_ns",
                                           "p50_ns", "barrier", "kernel", "source"};
  return "SELECT idx AS node, op, scope, p50_ns / 1e3 AS p50_us, p95_ns / 1e3 AS p95_us,\n"
         "  round(100 * share, 2) AS pct, barrier, kernel, source\nFROM " +
         node_rows_sql(capture->summary.id, shown_times(workspace.document)) + "\nWHERE " +
         filter_.where() + "\nORDER BY " + kOrder[static_cast<std::size_t>(sorted_by())] +
         (order().descending ? " DESC" : "") + ", idx";
}

}  // namespace reprise::debugger
