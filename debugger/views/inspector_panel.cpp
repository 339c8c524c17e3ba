#include "debugger/views/inspector_panel.h"

#include "debugger/model/format.h"
#include "debugger/model/sql_text.h"
#include "debugger/views/inspector_parts.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kSlowest = 12;

}  // namespace

void node_link(Ui& ui, Workspace& workspace, const Box& box, std::uint32_t node,
               std::string_view right, bool scoped) {
  const Capture::Node& of = workspace.document.capture()->nodes[node];
  const auto scope = ui.scope("node");
  const float middle = (box.min.y + box.max.y) / 2, half = ui.px(6);
  if (link(ui, std::to_string(node), box, "", {})) {
    workspace.select_node(node);
  }
  ui.fill({{box.min.x + ui.px(4), middle - half}, {box.min.x + ui.px(8), middle + half}},
          ui.colour(family_colour(of.family)), ui.px(1));
  const float right_width = right.empty() ? 0 : ui.text_size(right, FontKind::mono).x + ui.px(8);
  const std::string name = "#" + std::to_string(node) + " " + of.op;
  const float left = box.min.x + ui.px(14), end = box.max.x - right_width;
  const float middle_x = std::min(left + ui.text_size(name).x + ui.px(8), end);
  ui.text_in("", {{left, box.min.y}, {middle_x, box.max.y}}, name, {});
  if (scoped && middle_x < end && !of.scope.empty()) {
    ui.text_in(std::to_string(node) + "/scope", {{middle_x, box.min.y}, {end, box.max.y}}, of.scope,
               {.colour = Colour::dim});
  }
  if (!right.empty()) {
    ui.text_in("", {{box.max.x - right_width, box.min.y}, {box.max.x - ui.px(4), box.max.y}}, right,
               {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
  }
}

void rest_line(Ui& ui, Rows& rows, std::size_t count) {
  if (count > kMaxInspected) {
    ui.text_in("", rows.next(), "and " + count_text(count - kMaxInspected) + " more",
               {.colour = Colour::dim});
  }
}

void InspectorPanel::draw(Ui& ui, Workspace& workspace) {
  const auto capture = workspace.document.capture();
  const Box all = ui.rest();
  const float pad = ui.px(10);
  ImGui::SetCursorScreenPos({all.min.x + pad, all.min.y + ui.px(4)});
  const auto region = ui.region("all", {all.width() - pad, all.height() - ui.px(4)});
  const Selection selection = workspace.selection.current();
  if (!(selection == shown_)) {
    shown_ = selection;
    ImGui::SetScrollY(0);
  }
  Rows rows(ui, ui.px(10));
  if (selection.node && *selection.node < capture->nodes.size()) {
    inspect_node(ui, workspace, rows, *selection.node);
  } else if (selection.item && *selection.item < workspace.scopes.items().size()) {
    inspect_scope(ui, workspace, rows, *selection.item, sums(workspace));
  } else if (!selection.nodes.empty()) {
    inspect_nodes(ui, workspace, rows, selection.nodes.size(), sums(workspace));
  } else {
    inspect_capture(ui, workspace, rows, sums(workspace));
  }
  rows.gap(12);
}

const NodeSums& InspectorPanel::sums(const Workspace& workspace) {
  const Document& document = workspace.document;
  const Selection& selection = workspace.selection.current();
  if (revision_ == document.revision() && summed_ == selection) {
    return sums_;
  }
  revision_ = document.revision();
  summed_ = selection;
  const Capture& capture = *document.capture();
  if (!selection.nodes.empty()) {
    sums_ = sums_of(capture, document.statistics(), selection.nodes, kSlowest);
    return sums_;
  }
  Capture::Range nodes{0, static_cast<std::uint32_t>(capture.nodes.size())};
  if (selection.item && *selection.item < workspace.scopes.items().size()) {
    const ScopeTree::Item& item = workspace.scopes[*selection.item];
    nodes = {item.first, item.count};
  }
  sums_ = sums_of(capture, document.statistics(), nodes, kSlowest);
  return sums_;
}

std::string InspectorPanel::sql(const Workspace& workspace) const {
  const auto capture = workspace.document.capture();
  const CaptureId id = capture->summary.id;
  const std::string rows =
      "SELECT * FROM " + node_rows_sql(id, shown_times(workspace.document)) + "\n";
  const Selection selection = workspace.selection.current();
  if (selection.node) {
    return rows + "WHERE idx = " + std::to_string(*selection.node);
  }
  if (selection.item && *selection.item < workspace.scopes.items().size()) {
    const ScopeTree::Item& item = workspace.scopes[*selection.item];
    return rows + "WHERE idx >= " + std::to_string(item.first) + " AND idx < " +
           std::to_string(std::uint64_t{item.first} + item.count) + "\nORDER BY p50_ns DESC, idx";
  }
  if (!selection.nodes.empty()) {
    return rows + "WHERE idx IN (" + sql_list(selection.nodes) + ")\nORDER BY p50_ns DESC, idx";
  }
  return "SELECT * FROM graphs WHERE id = " + std::to_string(id.graph);
}

}  // namespace reprise::debugger
