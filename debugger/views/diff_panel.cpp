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

const TableOrder kLargestChange{"difference", true};
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

TableCell side_cell(const std::optional<NodeSide>& side,
                    std::optional<std::uint64_t> NodeSide::*member) {
  return side && (*side).*member ? number_cell(duration_text(*((*side).*member))) : TableCell{};
}

TableCell index_cell(const std::optional<NodeSide>& side) {
  return dim_cell(side ? std::to_string(side->node) : "");
}

std::string sign_of(double value) { return value == 0 ? "" : value < 0 ? "-" : "+"; }

std::string details_text(const NodeDiff& node) {
  std::string text;
  for (const std::string& what : node.changes) {
    text += (text.empty() ? "" : "; ") + what;
  }
  return text;
}

}  // namespace

void DiffPanel::refresh(Workspace& workspace) {
  if (capture_ != workspace.document.capture()) {
    capture_ = workspace.document.capture();
    choice_.forget();
    read_.forget();
  }
  choice_.refresh(workspace);
  if (const auto& chosen = choice_.chosen()) {
    read_.show(workspace.reads, {*chosen, {workspace.document.path(), capture_->summary.id}});
  } else {
    read_.forget();
  }
  if (std::exchange(revision_, read_.revision()) != read_.revision()) {
    diff_ = read_.value();
    show();
  }
}

void DiffPanel::show() {
  counts_.fill(0);
  rows_.clear();
  if (diff_ == nullptr) {
    return;
  }
  for (std::size_t c = 0; c < kNodeChanges; ++c) {
    for (std::size_t row = 0; row < diff_->graph.nodes.size(); ++row) {
      counts_[c] += has(*diff_, row, static_cast<NodeChange>(c)) ? 1U : 0U;
    }
  }
  table_.sort(*this, rows_, kLargestChange);
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
  if (const std::string& problem = workspace.other_file.problem(); !problem.empty()) {
    ui.text_in("other_problem", next(row), problem, {.colour = Colour::error});
  }
  if (!choice_.chosen()) {
    draw_empty_state(ui,
                     choice_.has_any() ? "No other capture is of a graph of that name."
                                       : "There is no other capture to compare with.",
                     kAgainst);
  } else if (diff_ == nullptr) {
    const std::string& problem = read_.problem();
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

TableCell DiffPanel::change_cell(std::uint32_t row) const {
  for (std::size_t c = 0; c < kNodeChanges; ++c) {
    const auto of = static_cast<NodeChange>(c);
    if (has(*diff_, row, of)) {
      const char* const glyph = of == NodeChange::added     ? "+ "
                                : of == NodeChange::removed ? "- "
                                                            : "";
      // Where there is no room for what changed, it stands here.
      return {.text = of == NodeChange::changed && !table_.shows("details")
                          ? details_text(node(row))
                          : std::string(glyph) + name_of(of),
              .colour = colour_of(of),
              .mark = colour_of(of)};
    }
  }
  return {};
}

const std::vector<PanelColumn<DiffPanel>>& DiffPanel::columns() {
  using P = DiffPanel;
  using Row = std::uint32_t;
  constexpr Align kLeft = Align::left, kRight = Align::right;
  constexpr FontKind kText = FontKind::regular, kMono = FontKind::mono;
  const auto by = [](DiffOrder order) {
    return [order](const P& p, std::vector<Row>& rows, bool descending) {
      std::vector<NodeChange> wanted;
      for (std::size_t c = 0; c < kNodeChanges; ++c) {
        if (p.wanted_[c]) {
          wanted.push_back(static_cast<NodeChange>(c));
        }
      }
      rows = diff_rows(*p.diff_, wanted, order, descending);
    };
  };
  static const std::vector<PanelColumn<P>> kColumns = {
      {.header = {"node_a", "A", 38, kRight, kMono},
       .cell = [](const P& p, Row row) { return index_cell(p.node(row).a); },
       .from_width = 900},
      {{"node_b", "B", 44, kRight, kMono},
       [](const P& p, Row row) { return index_cell(p.node(row).b); },
       by(DiffOrder::recorded)},
      {{"op", "Op", 110, kLeft, kText},
       [](const P& p, Row row) {
         const auto& b = p.node(row).b;
         TableCell cell{.text = p.node(row).op};
         if (b && b->node < p.capture_->nodes.size()) {
           cell.mark = family_colour(p.capture_->nodes[b->node].family);
         }
         return cell;
       }},
      {{"scope", "Scope", 0, kLeft, kText},
       [](const P& p, Row row) { return dim_cell(p.node(row).scope); }},
      {{"difference", "B - A", 82, kRight, kMono},
       [](const P& p, Row row) {
         const std::optional<double> ns = difference_ns(p.node(row));
         return ns ? number_cell(sign_of(*ns) + duration_text(whole_ns(std::abs(*ns))))
                   : TableCell{};
       },
       by(DiffOrder::difference),
       true},
      {{"share", "of A", 78, kRight, kMono},
       [](const P& p, Row row) {
         const std::optional<double> ns = difference_ns(p.node(row));
         return !ns || p.time_of_a_ == 0
                    ? TableCell{}
                    : number_cell(sign_of(*ns) +
                                  percent_text(std::abs(*ns / static_cast<double>(p.time_of_a_))));
       },
       {},
       true},
      {{"change", "", 86, kLeft, kText}, [](const P& p, Row row) { return p.change_cell(row); }},
      {{"median_a", "p50 A", 76, kRight, kMono},
       [](const P& p, Row row) { return side_cell(p.node(row).a, &NodeSide::median_ns); },
       by(DiffOrder::median_a),
       true},
      {{"median_b", "p50 B", 76, kRight, kMono},
       [](const P& p, Row row) { return side_cell(p.node(row).b, &NodeSide::median_ns); },
       by(DiffOrder::median_b),
       true},
      {{"ratio", "B/A", 62, kRight, kMono},
       [](const P& p, Row row) {
         const auto& ratio = p.node(row).ratio;
         return TableCell{.text = ratio ? fmt::format("{:.2f}", *ratio) : "",
                          .colour = has(*p.diff_, row, NodeChange::slower)   ? Colour::error
                                    : has(*p.diff_, row, NodeChange::faster) ? Colour::ok
                                                                             : Colour::text};
       },
       by(DiffOrder::ratio),
       true,
       900},
      {{"probability", "By chance", 84, kRight, kMono},
       [](const P& p, Row row) {
         const auto& chance = p.node(row).probability;
         return dim_cell(!chance           ? ""
                         : *chance < 0.001 ? "<0.001"
                                           : fmt::format("{:.3f}", *chance));
       },
       {},
       true,
       1000},
      {{"p95_a", "p95 A", 78, kRight, kMono},
       [](const P& p, Row row) { return side_cell(p.node(row).a, &NodeSide::p95_ns); },
       {},
       true,
       1200},
      {{"p95_b", "p95 B", 78, kRight, kMono},
       [](const P& p, Row row) { return side_cell(p.node(row).b, &NodeSide::p95_ns); },
       {},
       true,
       1200},
      {{"numbers", "Numbers", 84, kRight, kMono},
       [](const P& p, Row row) {
         const auto& found = p.diff_->numbers[row];
         return TableCell{.text = numbers_text(found),
                          .colour = found && !found->equal() ? Colour::warning : Colour::dim};
       },
       by(DiffOrder::numbers)},
      {.header = {"details", "Changed", 0, kLeft, kText},
       .cell = [](const P& p, Row row) { return dim_cell(details_text(p.node(row))); },
       .from_width = 800}};
  return kColumns;
}

void DiffPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const auto selected = workspace.selection.current().node;
  table_.choose(ui.rest().width() / ui.scale(), timed_);
  const TableRows rows{
      .selected = [&](std::size_t row) { return selected && shown_node(row) == selected; },
      .follow = workspace.selection.revision(),
      .usual_order = kLargestChange,
      .none = "No node is one of these."};
  const TableEvents events = table_.draw(ui, "table", *this, rows_, rows);
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
  return row_actions("difference", row_of(rows_, at_),
                     diff_ == nullptr ? 0 : current_rows(workspace, capture_, rows_.size()),
                     [&](std::size_t to) {
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
