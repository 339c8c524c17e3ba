#include "debugger/views/numerics_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/model/sql_text.h"
#include "debugger/ui/icons.h"
#include "debugger/ui/rows.h"
#include "debugger/views/numerics_actions.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {
namespace {

constexpr const char* kCompare = "compare_numerics(graph, reference);  verify(executor, pass);";
constexpr double kMinShown = 1e-9;  // an error of a bar without length

/// "1.0e-2": two digits of the exponent would leave no room for a bar.
std::string error_text(std::optional<double> value) {
  std::string text = !value ? "not finite" : *value == 0 ? "0" : fmt::format("{:.1e}", *value);
  const std::size_t exponent = text.find('e');
  if (value && exponent != text.npos && text[exponent + 2] == '0') {
    text.erase(exponent + 2, 1);
  }
  return text;
}

/// On a scale of magnitudes, from kMinShown to 1; none where a longer text stands in its place.
std::optional<double> bar_of(std::optional<double> error) {
  if (!error) {
    return std::nullopt;
  }
  return *error <= 0 ? 0 : std::clamp(1 - std::log10(*error) / std::log10(kMinShown), 0.0, 1.0);
}

bool is_bad(const TensorSums& sums) { return sums.nan > 0 || sums.infinite > 0; }

/// Which graph of the file was compared instead; empty if none was.
std::string elsewhere_text(const TensorStatistics& numbers) {
  if (!numbers.elsewhere) {
    return {};
  }
  const ComparedGraph& other = *numbers.elsewhere;
  return count_text(other.comparisons) + (other.comparisons == 1 ? " comparison" : " comparisons") +
         " of this file " + (other.comparisons == 1 ? "is" : "are") + " of '" + other.name +
         "', run " + std::to_string(other.capture.run) + ", graph " +
         std::to_string(other.capture.graph);
}

}  // namespace

std::optional<std::uint32_t> NumericsPanel::Row::node() const {
  return error != nullptr ? error->node : std::optional(static_cast<std::uint32_t>(sums->node));
}

NumericsPanel::Listed NumericsPanel::wanted(const Workspace& workspace) const {
  return {workspace.document.capture(), workspace.errors.version(), workspace.numbers.revision(),
          differing_only_};
}

void NumericsPanel::forget_rows() {
  rows_.clear();
  first_ = nullptr;
  listed_.reset();
}

void NumericsPanel::list_rows(const Workspace& workspace) {
  const TensorStatistics& numbers = *workspace.numbers.value();
  const NodeErrors& errors = workspace.errors.errors();
  const Listed now = wanted(workspace);
  if (listed_ == now) {
    return;
  }
  forget_rows();
  listed_ = now;
  std::vector<bool> listed(capture_->tensors.size(), false);
  for (const NodeError& error : errors.rows) {
    const TensorSums* const sums = error.tensor ? numbers.sums_of(*error.tensor) : nullptr;
    if (error.tensor) {
      listed[*error.tensor] = true;
    }
    if (!differing_only_ || error.differs || (sums != nullptr && is_bad(*sums))) {
      rows_.push_back({&error, sums});
    }
  }
  for (const TensorSums& sums : numbers.sums) {
    if (is_bad(sums) && !listed[static_cast<std::size_t>(sums.tensor)]) {
      rows_.push_back({nullptr, &sums});
    }
  }
  const auto place = [](const Row& row) { return row.node() ? *row.node() : UINT32_MAX; };
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](const Row& a, const Row& b) { return place(a) < place(b); });
  first_ = errors.first ? &errors.rows[*errors.first] : nullptr;
}

void NumericsPanel::draw(Ui& ui, Workspace& workspace) {
  capture_ = workspace.document.capture();
  workspace.show_numbers();
  const TensorStatistics* const numbers = workspace.numbers.value();
  if (numbers == nullptr) {
    forget_rows();
    const std::string& problem = workspace.numbers.problem();
    draw_empty_state(ui, problem.empty() ? "Reading what was compared" : problem, "");
    return;
  }
  workspace.errors.refresh(capture_, workspace.numbers);
  if (numbers->comparisons.empty() && numbers->sums.empty()) {
    forget_rows();
    draw_nothing(ui, workspace, *numbers);
    return;
  }
  const Box all = ui.rest();
  const float pad = ui.px(8), top = all.min.y + ui.px(4);
  Box row{{all.min.x + pad, top}, {all.max.x - pad, top + ui.row_height()}};
  draw_tools(ui, workspace, row);
  list_rows(workspace);
  row = {{row.min.x, row.max.y + ui.px(2)}, {row.max.x, row.max.y + ui.px(2) + ui.row_height()}};
  draw_first(ui, workspace, row);
  ImGui::SetCursorScreenPos({all.min.x, row.max.y + ui.px(2)});
  draw_rows(ui, workspace);
}

void NumericsPanel::draw_nothing(Ui& ui, Workspace& workspace, const TensorStatistics& numbers) {
  const std::string elsewhere = elsewhere_text(numbers);
  if (elsewhere.empty()) {
    draw_empty_state(ui, "Nothing was compared, and no launch was watched.", kCompare);
    return;
  }
  draw_empty_state(ui, "Nothing was compared in this graph: " + elsewhere + ".", "");
  const std::string label = "Show that graph";
  const Box rest = ui.rest();
  const float width = ui.text_size(label).x + ui.px(17);
  ImGui::SetCursorScreenPos(
      {(rest.min.x + rest.max.x - width) / 2, (rest.min.y + rest.max.y) / 2 + ui.px(4)});
  if (ui.button("elsewhere", label)) {
    workspace.document.choose(numbers.elsewhere->capture);
  }
}

void NumericsPanel::draw_tools(Ui& ui, Workspace& workspace, const Box& box) {
  ErrorList& errors = workspace.errors;
  float left = box.min.x;
  const auto at = [&](float width) {
    ImGui::SetCursorScreenPos({left, box.min.y});
    left += width + ui.px(6);
  };
  const auto button_width = [&](std::string_view label) {
    return ui.text_size(label).x + ui.px(17);
  };
  if (!errors.references().empty()) {
    const float width = std::min(ui.px(260), box.width() * 0.3F);
    at(width);
    std::vector<std::string> names;
    for (const std::string& reference : errors.references()) {
      names.push_back("beside " + reference);
    }
    ui.combo("reference", names, errors.reference, width);
    at(ui.px(170));
    ui.input("threshold", "threshold: as compared", errors.threshold, ui.px(170));
  }
  const std::string first = "First diverging  F9", next = "Next NaN  N";
  at(button_width(first));
  if (ui.button("first", first, errors.errors().first.has_value())) {
    select_first_diverging(workspace);
  }
  at(button_width(next));
  if (ui.button("next", next)) {
    select_next_not_finite(workspace);
  }
  at(button_width("differing only"));
  ui.toggle("differing", "differing only", differing_only_);
  errors.refresh(capture_, workspace.numbers);  // what was just typed
  const NodeErrors& found = errors.errors();
  if (left < box.max.x) {
    ui.text_in("count", {{left, box.min.y}, box.max},
               count_text(found.differing) + " of " + count_text(found.rows.size()) + " differ",
               {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
  }
}

void NumericsPanel::draw_first(Ui& ui, Workspace& workspace, const Box& box) {
  const ErrorList& errors = workspace.errors;
  if (!errors.problem().empty()) {
    ui.text_in("problem", box, errors.problem(), {.colour = Colour::error});
  } else if (first_ != nullptr) {
    const Capture::Node& node = capture_->nodes[*first_->node];
    const std::string text = std::string(icon::kWarning) + "  Both part at #" +
                             std::to_string(*first_->node) + " " + node.op +
                             (node.scope.empty() ? "" : " (" + node.scope + ")") + ", by " +
                             error_text(first_->max_rel) + ": what it reads does not differ.";
    const float width = std::min(ui.text_size(text).x + ui.px(10), box.width());
    if (link(ui, "parting", {box.min, {box.min.x + width, box.max.y}}, text,
             {.colour = Colour::error})) {
      workspace.select_node(*first_->node);
    }
  } else if (errors.references().empty()) {
    const std::string elsewhere = elsewhere_text(*workspace.numbers.value());
    ui.text_in("nothing", box,
               "Nothing was compared" + (elsewhere.empty() ? std::string(": ") + kCompare
                                                           : " in this graph: " + elsewhere),
               {.colour = Colour::dim});
  } else {
    ui.text_in("nothing", box,
               errors.errors().differing == 0
                   ? "Nothing differs."
                   : "No node differs whose inputs do not: those were not compared.",
               {.colour = errors.errors().differing == 0 ? Colour::ok : Colour::warning});
  }
}

TableCell NumericsPanel::verdict(const Row& row) const {
  if (row.error == nullptr) {
    return dim_cell("not compared");
  }
  if (!row.error->differs) {
    // A replay that was watched held it; the one that was compared, perhaps, did not.
    return row.sums != nullptr && is_bad(*row.sums)
               ? TableCell{.text = "passes, but is not finite", .colour = Colour::warning}
               : TableCell{.text = "passes", .colour = Colour::ok};
  }
  if (row.error == first_) {
    return {.text = "parts here", .colour = Colour::error, .mark = Colour::error};
  }
  if (!row.error->input_differs) {
    return {.text = "differs", .colour = Colour::error};
  }
  std::string text = "its input differs";
  for (const std::uint32_t node : row.error->blamed) {
    text += (node == row.error->blamed.front() ? ": #" : ", #") + std::to_string(node);
  }
  return {.text = std::move(text), .colour = Colour::warning};
}

const std::vector<PanelColumn<NumericsPanel, NumericsPanel::Row>>& NumericsPanel::columns() {
  using P = NumericsPanel;
  using Column = PanelColumn<P, Row>;
  constexpr Align kLeft = Align::left, kRight = Align::right;
  constexpr FontKind kText = FontKind::regular, kMono = FontKind::mono;
  const auto of_error = [](const char* id, const char* title, float width, auto cell) {
    return Column{{id, title, width, kRight, kMono},
                  [cell](const P&, const Row& row) {
                    return row.error == nullptr ? TableCell{} : cell(*row.error);
                  },
                  {},
                  true};
  };
  static const std::vector<Column> kColumns = {
      {{"index", "#", 44, kRight, kMono},
       [](const P&, const Row& row) {
         return dim_cell(row.node() ? std::to_string(*row.node()) : "");
       }},
      {{"op", "Op", 130, kLeft, kText},
       [](const P& p, const Row& row) {
         const auto node = row.node();
         return node ? TableCell{.text = p.capture_->nodes[*node].op,
                                 .mark = family_colour(p.capture_->nodes[*node].family)}
                     : dim_cell("(the whole pass)");
       }},
      {{"scope", "Scope", 0, kLeft, kText},
       [](const P& p, const Row& row) {
         return dim_cell(row.node() ? p.capture_->nodes[*row.node()].scope : "");
       }},
      {{"tensor", "Result", 0, kLeft, kText},
       [](const P& p, const Row& row) {
         const auto& tensors = p.capture_->tensors;
         return TableCell{.text = row.error != nullptr
                                      ? row.error->name
                                      : tensors[static_cast<std::size_t>(row.sums->tensor)].name};
       }},
      of_error("max_rel", "Largest relative", 150,
               [](const NodeError& error) {
                 return TableCell{.text = error_text(error.max_rel),
                                  .colour = error.differs ? Colour::error : Colour::text,
                                  .bar = bar_of(error.max_rel)};
               }),
      of_error("max_abs", "absolute", 82,
               [](const NodeError& error) { return dim_cell(error_text(error.max_abs)); }),
      of_error("rmse", "rms", 82,
               [](const NodeError& error) { return dim_cell(error_text(error.rmse)); }),
      of_error("cosine", "Cosine", 92,
               [](const NodeError& error) {
                 return error.cosine ? dim_cell(fmt::format("{:.6f}", *error.cosine)) : TableCell{};
               }),
      of_error("first_bad", "First element", 104,
               [](const NodeError& error) {
                 return error.first_bad ? dim_cell(std::to_string(*error.first_bad)) : TableCell{};
               }),
      {{"not_finite", "Not finite", 112, kRight, kMono},
       [](const P&, const Row& row) {
         if (row.sums == nullptr || !is_bad(*row.sums)) {
           return TableCell{};
         }
         const bool nan = row.sums->nan > 0;
         return TableCell{.text = nan ? count_text(row.sums->nan) + " NaN"
                                      : count_text(row.sums->infinite) + " inf",
                          .colour = nan ? Colour::nan : Colour::infinite};
       }},
      {{"result", "", 190, kLeft, kText},
       [](const P& p, const Row& row) { return p.verdict(row); },
       {},
       true}};
  return kColumns;
}

void NumericsPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const auto selected = workspace.selection.current().node;
  // Of what was not compared only the counts of what is not finite are known.
  table_.choose(ui.rest().width(), !workspace.errors.references().empty());
  const TableRows rows{
      .id =
          [&](std::size_t row) {
            const Row& of = rows_[row];
            return of.error == nullptr ? static_cast<std::uint64_t>(of.sums->tensor)
                   : of.error->tensor  ? *of.error->tensor
                                       : capture_->tensors.size() + row;
          },
      .selected = [&](std::size_t row) { return selected && rows_[row].node() == selected; },
      .follow = workspace.selection.revision(),
      .none = "No result differs or is not finite."};
  const TableEvents events = table_.draw(ui, "table", *this, rows_, rows);
  if (const auto row = events.clicked ? events.clicked : events.right_clicked;
      row && rows_[*row].node()) {
    workspace.select_node(*rows_[*row].node());
  }
  draw_context_menu(ui, events.right_clicked.has_value(),
                    [&] { return selection_menu(workspace); });
}

std::optional<PanelBadge> NumericsPanel::badge(Workspace& workspace) {
  const auto capture = workspace.document.capture();
  workspace.show_numbers();
  const TensorStatistics* const numbers = workspace.numbers.value();
  if (numbers == nullptr) {
    return std::nullopt;
  }
  workspace.errors.refresh(capture, workspace.numbers);
  if (const auto bad = std::ranges::find_if(numbers->sums, is_bad); bad != numbers->sums.end()) {
    const bool nan = std::ranges::any_of(numbers->sums, [](const auto& s) { return s.nan > 0; });
    return PanelBadge{nan ? "NaN" : "inf", nan ? Colour::nan : Colour::infinite};
  }
  const std::size_t differing = workspace.errors.errors().differing;
  return differing == 0 ? std::nullopt
                        : std::optional(PanelBadge{count_text(differing), Colour::error});
}

Actions NumericsPanel::actions(Workspace& workspace) {
  if (workspace.numbers.value() == nullptr || listed_ != wanted(workspace)) {
    forget_rows();  // the badge of a hidden panel looks for errors too
  }
  const auto selected = workspace.selection.current().node;
  const auto found = std::ranges::find_if(
      rows_, [&](const Row& row) { return selected && row.node() == selected; });
  const auto row = found == rows_.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  return row_actions("result", row, rows_.size(), [&](std::size_t to) {
    if (const auto node = rows_[to].node()) {
      workspace.select_node(*node);
    }
  });
}

std::string NumericsPanel::sql(const Workspace& workspace) const {
  const CaptureId id = workspace.document.capture()->summary.id;
  return "SELECT p.node_idx AS node, n.op, n.scope, p.name, p.reference, p.max_rel, p.max_abs,\n"
         "  p.rmse, p.cosine, p.first_bad_index, p.input_differs, p.tolerance, p.pass\n"
         "FROM comparisons p LEFT JOIN nodes n ON n.graph_id = p.graph_id AND n.idx = p.node_idx\n"
         "WHERE p.run_id = " +
         std::to_string(id.run) + " AND p.graph_id = " + std::to_string(id.graph) +
         (workspace.errors.references().empty()
              ? ""
              : " AND p.reference = " +
                    sql_string(workspace.errors.references()[workspace.errors.reference])) +
         "\nORDER BY p.node_idx, p.id";
}

}  // namespace reprise::debugger
