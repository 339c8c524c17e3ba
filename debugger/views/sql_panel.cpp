#include "debugger/views/sql_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/ui/icons.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMeasuredRows = 200;       // for the widths of columns
constexpr float kNarrowest = 60, kWidest = 360;  // columns, at 1x

bool is_number(const SqlValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

std::string text_of(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return fmt::format("{:.6g}", *real);
  }
  if (const auto* blob = std::get_if<BlobSize>(&value)) {
    return "blob of " + bytes_text(blob->bytes);
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "NULL" : *text;
}

/// As SQLite sorts: NULL, numbers, text, blobs.
bool less(const SqlValue& a, const SqlValue& b) {
  const auto rank = [](const SqlValue& value) { return is_number(value) ? 1 : value.index(); };
  if (rank(a) != rank(b)) {
    return rank(a) < rank(b);
  }
  if (is_number(a) && a.index() != b.index()) {
    const auto number = [](const SqlValue& value) {
      const auto* whole = std::get_if<std::int64_t>(&value);
      return whole == nullptr ? std::get<double>(value) : static_cast<double>(*whole);
    };
    return number(a) < number(b);
  }
  if (const auto* blob = std::get_if<BlobSize>(&a)) {
    return blob->bytes < std::get<BlobSize>(b).bytes;
  }
  return std::holds_alternative<std::string>(a)
             ? std::get<std::string>(a) < std::get<std::string>(b)
         : std::holds_alternative<std::int64_t>(a)
             ? std::get<std::int64_t>(a) < std::get<std::int64_t>(b)
             : std::holds_alternative<double>(a) && std::get<double>(a) < std::get<double>(b);
}

}  // namespace

void SqlPanel::refresh(Ui& ui, const Workspace& workspace) {
  if (const auto capture = workspace.document.capture();
      capture && capture_ != capture->summary.id) {
    capture_ = capture->summary.id;
    const bool untouched = text_.empty() || (!queries_.empty() && text_ == queries_.front().sql);
    queries_ = saved_queries(*capture_);
    text_ = untouched ? queries_.front().sql : text_;
  }
  const SqlResult* const result = workspace.queries.value();
  if (std::exchange(revision_, workspace.queries.revision()) != workspace.queries.revision()) {
    table_ = {};
    at_.reset();
    if (result != nullptr) {
      choose_columns(ui, *result);
      chart_.choose(*result);
      sort(*result);
    }
  }
}

void SqlPanel::choose_columns(Ui& ui, const SqlResult& result) {
  columns_.clear();
  node_column_.reset();
  graph_column_.reset();
  const std::size_t measured = std::min(result.rows.size(), kMeasuredRows);
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    const std::string& name = result.columns[c];
    if (name == "node" || name == "node_idx" || name == "node_id") {
      node_column_ = c;
    } else if (name == "graph_id") {
      graph_column_ = c;
    }
    float width = ui.text_size(name).x + ui.px(14);  // an arrow beside it
    bool numbers = false, others = false;
    for (std::size_t r = 0; r < measured; ++r) {
      const SqlValue& value = result.rows[r][c];
      width = std::max(width, ui.text_size(text_of(value), FontKind::mono).x);
      numbers = numbers || is_number(value);
      others = others || (!is_number(value) && !std::holds_alternative<std::monostate>(value));
    }
    const bool repeated = std::any_of(columns_.begin(), columns_.end(),
                                      [&](const TableColumn& other) { return other.id == name; });
    columns_.push_back({.id = repeated ? name + "#" + std::to_string(c) : name,
                        .title = name,
                        .width = std::clamp(width / ui.scale() + 18, kNarrowest, kWidest),
                        .align = numbers && !others ? Align::right : Align::left,
                        .font = FontKind::mono,
                        .sortable = true});
  }
}

void SqlPanel::sort(const SqlResult& result) {
  order_.resize(result.rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const TableOrder by = table_.arranged.order.value_or(TableOrder{});
  const auto column = std::ranges::find(columns_, by.column, &TableColumn::id);
  if (column != columns_.end()) {
    const auto c = static_cast<std::size_t>(column - columns_.begin());
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const SqlValue& first = result.rows[by.descending ? b : a][c];
      return less(first, result.rows[by.descending ? a : b][c]);
    });
  }
}

void SqlPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(ui, workspace);
  const Box all = ui.rest();
  const float pad = ui.px(6), bar = ui.px(30);
  draw_bar(ui, workspace, {all.min, {all.max.x, all.min.y + bar}});
  const float top = all.min.y + bar, height = all.max.y - top;
  const bool beside = all.width() > 2 * height;
  const ImVec2 editor = beside ? ImVec2(std::min(all.width() * 0.4F, ui.px(560)), height - pad)
                               : ImVec2(all.width() - 2 * pad, std::min(height * 0.4F, ui.px(180)));
  ImGui::SetCursorScreenPos({all.min.x + pad, top});
  ui.text_area("editor", text_, editor);
  ImGui::SetCursorScreenPos(beside ? ImVec2(all.min.x + pad + editor.x + pad, top)
                                   : ImVec2(all.min.x, top + editor.y + pad));
  const auto region = ui.region("result", {}, false);
  draw_result(ui, workspace);
}

void SqlPanel::draw_bar(Ui& ui, Workspace& workspace, const Box& box) {
  const float top = box.min.y + ui.px(4), gap = ui.px(6);
  float x = box.min.x + gap;
  const auto at = [&] { ImGui::SetCursorScreenPos({x, top}); };
  const auto after = [&] { x = ImGui::GetItemRectMax().x + gap; };
  const bool running = workspace.queries.running();
  at();
  if (ui.button("run", std::string(icon::kPlay) + "  Run", !text_.empty())) {
    workspace.queries.ask(workspace.reads, text_);
  }
  after();
  at();
  if (ui.button("cancel", std::string(icon::kStop) + "  Cancel", running)) {
    workspace.queries.cancel();
  }
  after();
  at();
  if (ui.begin_menu("saved", (std::string("Queries  ") + icon::kUnfold).c_str(), "")) {
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      if (ui.menu_entry(std::to_string(q), queries_[q].name)) {
        text_ = queries_[q].sql;
        workspace.queries.ask(workspace.reads, text_);
      }
    }
    ui.end_menu();
  }
  const SqlResult* const result = workspace.queries.value();
  after();
  at();
  ui.toggle("charted", "Chart", charted_);
  after();
  at();
  const auto capture = workspace.document.capture();
  const bool names_nodes = result != nullptr && capture && node_column_;
  if (ui.button("select_nodes", "Rows to nodes", names_nodes)) {
    std::vector<std::uint32_t> nodes = nodes_of(*capture, *result);
    workspace.notice = nodes.empty() ? "No row names a node of this capture" : "";
    if (!nodes.empty()) {
      workspace.select_nodes(std::move(nodes));
    }
  }
  after();
  std::string status = "Ctrl+Enter runs";
  if (running) {
    status = "running";
  } else if (!workspace.queries.problem().empty()) {
    status = "failed";
  } else if (result != nullptr) {
    status = (result->truncated ? "the first " : "") + count_text(result->rows.size()) +
             (result->rows.size() == 1 ? " row, " : " rows, ") +
             duration_text(static_cast<std::uint64_t>(result->elapsed.count()));
  }
  const float right = box.max.x - ui.px(8);
  ui.text_in(
      "status",
      {{std::min(std::max(right - ui.px(260), x), right - 1), top}, {right, top + ui.row_height()}},
      status, {.colour = Colour::dim, .align = Align::right});
}

std::optional<std::uint32_t> SqlPanel::node_of(const Capture& capture,
                                               const std::vector<SqlValue>& row) const {
  if (!node_column_ ||
      (graph_column_ && row[*graph_column_] != SqlValue(capture.summary.id.graph))) {
    return std::nullopt;
  }
  const auto* node = std::get_if<std::int64_t>(&row[*node_column_]);
  const bool known =
      node != nullptr && *node >= 0 && static_cast<std::uint64_t>(*node) < capture.nodes.size();
  return known ? std::optional(static_cast<std::uint32_t>(*node)) : std::nullopt;
}

std::vector<std::uint32_t> SqlPanel::nodes_of(const Capture& capture,
                                              const SqlResult& result) const {
  std::vector<std::uint32_t> nodes;
  for (const auto& row : result.rows) {
    if (const auto node = node_of(capture, row)) {
      nodes.push_back(*node);
    }
  }
  return nodes;
}

void SqlPanel::draw_result(Ui& ui, Workspace& workspace) {
  if (!workspace.queries.problem().empty()) {
    ui.paragraph("error", workspace.queries.problem(), Colour::error);
    return;
  }
  const SqlResult* const result = workspace.queries.value();
  if (result == nullptr) {
    draw_empty_state(ui, "Ask the database: Ctrl+Enter runs the query",
                     "sqlite3 " + workspace.document.path().filename().string());
    return;
  }
  const Box all = ui.rest();
  const bool beside = all.width() > 2 * all.height();
  const float share = 0.5F, gap = ui.px(8);
  Box table = all, chart = all;
  if (charted_ && beside) {
    table.max.x = all.min.x + std::floor(all.width() * share);
    chart.min.x = table.max.x + gap;
    chart.max.x -= gap;
  } else if (charted_) {
    table.max.y = all.min.y + std::floor(all.height() * share);
    chart = {{all.min.x + gap, table.max.y + gap}, {all.max.x - gap, all.max.y}};
  }
  draw_table_of(ui, workspace, *result, table);
  if (charted_ && !chart.empty()) {
    const auto row = chart_.draw(ui, chart, *result, order_);
    const auto capture = workspace.document.capture();
    const auto clicked = row && capture ? node_of(*capture, result->rows[*row]) : std::nullopt;
    if (clicked) {
      workspace.select_node(*clicked);
    }
  }
}

void SqlPanel::draw_table_of(Ui& ui, Workspace& workspace, const SqlResult& result,
                             const Box& box) {
  const auto capture = workspace.document.capture();
  const auto node = [&](std::size_t row) {
    return capture ? node_of(*capture, result.rows[order_[row]]) : std::nullopt;
  };
  const TableRows rows{.count = order_.size(),
                       .id = [&](std::size_t row) { return order_[row]; },
                       .cell =
                           [&](std::size_t row, std::size_t column) {
                             const SqlValue& value = result.rows[order_[row]][column];
                             TableCell cell;
                             cell.text = text_of(value);
                             const bool plain =
                                 is_number(value) || std::holds_alternative<std::string>(value);
                             cell.colour = plain ? Colour::text : Colour::dim;
                             return cell;
                           },
                       .selected =
                           [&](std::size_t row) {
                             return at_ == order_[row] ||
                                    (node(row) && workspace.selection.current().holds(*node(row)));
                           }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "table", columns_, rows, table_, {box.width(), box.height()});
  if (events.sort_changed) {
    sort(result);
  } else if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select(workspace, order_[*row]);
  }
  menu_.draw(ui, workspace, events, events.right_clicked && node(*events.right_clicked));
}

void SqlPanel::select(Workspace& workspace, std::size_t row) {
  at_ = row;
  const auto capture = workspace.document.capture();
  const SqlResult* const result = workspace.queries.value();
  if (const auto node = capture && result ? node_of(*capture, result->rows[row]) : std::nullopt) {
    workspace.select_node(*node);
  }
}

Actions SqlPanel::actions(Workspace& workspace) {
  Actions actions{{"Run the query", "Ctrl+Enter",
                   [&] { workspace.queries.ask(workspace.reads, text_); }, !text_.empty()}};
  // A hidden panel lists a new result when it is drawn.
  const bool shown =
      workspace.queries.value() != nullptr && revision_ == workspace.queries.revision();
  std::ranges::move(row_actions("row", row_of(order_, at_), shown ? order_.size() : 0,
                                [&](std::size_t to) {
                                  select(workspace, order_[to]);
                                  table_.scroll_to = to;
                                }),
                    std::back_inserter(actions));
  return actions;
}

std::string SqlPanel::sql(const Workspace& /*workspace*/) const { return text_; }

}  // namespace reprise::debugger
