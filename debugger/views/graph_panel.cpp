#include "debugger/views/graph_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "debugger/model/format.h"
#include "debugger/model/printable.h"
#include "debugger/ui/icons.h"
#include "debugger/views/fold_actions.h"
#include "debugger/views/graph_legend.h"
#include "debugger/views/graph_tooltips.h"
#include "debugger/views/move_actions.h"
#include "debugger/views/selection_actions.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr float kWheelStep = 1.18F;
constexpr float kBarMargin = 12;

}  // namespace

// ---- scene and camera

void GraphPanel::update_scene(const Workspace& workspace) {
  const bool is_new = workspace.document.capture() != capture_;
  if (!is_new && workspace.folds.version() == folds_) {
    return;
  }
  const auto place_of = [&](std::uint32_t node) {
    const SceneRect& rect = scene_.boxes[scene_.graph.node_boxes[node]].rect;
    return LayoutPoint{rect.centre().x, rect.min.y};
  };
  std::optional<LayoutPoint> before;
  if (!is_new && !scene_.empty()) {
    if (!fixed_node_) {
      fixed_node_ = workspace.scopes[selected_item(workspace)].first;
    }
    before = place_of(*fixed_node_);
  }
  capture_ = workspace.document.capture();
  folds_ = workspace.folds.version();
  scene_ = graph_scene(*capture_, workspace.scopes, workspace.folds);
  hovered_.reset();
  hovered_line_.reset();
  if (before) {
    const LayoutPoint after = place_of(*fixed_node_);
    camera_.move_by({after.x - before->x, after.y - before->y});
  }
  fixed_node_.reset();
  look_at_start_ = look_at_start_ || is_new;
}

void GraphPanel::update_camera(Workspace& workspace) {
  if (look_at_start_) {
    camera_.frame_start(scene_.bounds);
    look_at_start_ = false;
  }
  if (workspace.reveal && selected_item(workspace) != 0) {
    const SceneRect rect = scene_.rect_of(workspace.scopes[selected_item(workspace)]);
    if (!camera_.visible().contains(rect) || camera_.zoom() < GraphPainter::kTextZoom) {
      frame_selection(workspace);
    }
  }
  workspace.reveal = false;
}

void GraphPanel::frame_selection(const Workspace& workspace) {
  const std::uint32_t item = selected_item(workspace);
  const SceneRect rect = scene_.rect_of(workspace.scopes[item]);
  const SceneRect roomy{{rect.min.x - 80, rect.min.y - 80}, {rect.max.x + 80, rect.max.y + 80}};
  if (item == 0) {
    camera_.frame(scene_.bounds);
  } else {
    camera_.frame_start(roomy);
  }
}

// ---- input

void GraphPanel::toggle(Workspace& workspace, std::uint32_t item) {
  fixed_node_ = workspace.scopes[item].first;
  workspace.folds.toggle(item);
}

void GraphPanel::select(Workspace& workspace, const Selection& selection) {
  workspace.select(selection);
  workspace.reveal = false;  // it is where the mouse is
}

void GraphPanel::navigate(const Hit& hit) {
  camera_.pan(hit.dragged);
  if (hit.wheel != 0) {
    camera_.zoom_by(std::pow(kWheelStep, hit.wheel), ImGui::GetIO().MousePos);
  }
}

void GraphPanel::handle_canvas(Ui& ui, Workspace& workspace, const GraphPainter& painter) {
  const Hit hit = ui.hit("canvas", camera_.viewport());
  navigate(hit);
  over_canvas_ = hit.hovered && !hit.held;
  hovered_.reset();
  if (draws_widgets(painter) || !hit.hovered) {
    return;
  }
  for (const std::uint32_t b : painter.visible()) {
    if (camera_.to_screen(scene_.boxes[b].rect).contains(ImGui::GetIO().MousePos)) {
      hovered_ = b;
    }
  }
  if (hovered_) {
    handle_box(workspace, painter, *hovered_, hit);
  }
}

void GraphPanel::handle_frames(Ui& ui, Workspace& workspace, const GraphPainter& painter) {
  for (const GraphScene::Frame& frame : scene_.frames) {
    const Box header = painter.frame_header(frame);
    if (!painter.has_text() || header.intersection(camera_.viewport()).empty()) {
      continue;
    }
    const std::string id = std::to_string(frame.item);
    const bool selected = selected_item(workspace) == frame.item;
    const Hit hit = ui.hit("frame/" + id, header, frame.label, selected ? "selected" : "");
    navigate(hit);
    if (hit.clicked) {
      select(workspace, {.node = {}, .item = frame.item});
    }
    const Box caret{header.min, {header.min.x + header.height(), header.max.y}};
    if (ui.hit("fold/" + id, caret, frame.label, "unfolded").clicked || hit.double_clicked) {
      toggle(workspace, frame.item);
    }
  }
}

void GraphPanel::handle_box(Workspace& workspace, const GraphPainter& painter, std::uint32_t b,
                            const Hit& hit) {
  const FoldedGraph::Box& box = scene_.graph.boxes[b];
  const bool is_node = box.kind == ScopeTree::Kind::node;
  menu_ = menu_ || hit.right_clicked;
  const bool chosen = hit.clicked || hit.right_clicked;
  if (chosen && is_node) {
    select(workspace, {.node = box.first, .item = {}});
  } else if (chosen) {
    const auto repetition = box.kind == ScopeTree::Kind::group && painter.has_text()
                                ? painter.repetition_at(b, ImGui::GetIO().MousePos)
                                : std::nullopt;
    select(workspace, {.node = {}, .item = repetition.value_or(box.item)});
  }
  const std::uint32_t scope = is_node ? workspace.scopes[box.item].parent : box.item;
  if (hit.double_clicked && scope != 0) {
    toggle(workspace, scope);
  }
}

void GraphPanel::handle_boxes(Ui& ui, Workspace& workspace, const GraphPainter& painter) {
  if (!draws_widgets(painter)) {
    return;
  }
  for (const std::uint32_t b : painter.visible()) {
    const FoldedGraph::Box& box = scene_.graph.boxes[b];
    const bool is_node = box.kind == ScopeTree::Kind::node;
    const bool selected = box.item == selected_item(workspace) || painter.holds_selected(b);
    std::string state = selected ? "selected" : "";
    const auto add_state = [&](const char* word) {
      state += (state.empty() ? "" : " ") + std::string(word);
    };
    if (!is_node) {
      add_state("folded");
    }
    if (box.kind == ScopeTree::Kind::group) {
      add_state("group");
    }
    if (painter.holds_not_finite(b)) {
      add_state("nan");
    }
    const std::string id = std::to_string(box.item);
    const Hit hit =
        ui.hit("box/" + id, camera_.to_screen(scene_.boxes[b].rect), scene_.boxes[b].label, state);
    navigate(hit);
    if (hit.hovered && !hit.held) {
      hovered_ = b;
    }
    handle_box(workspace, painter, b, hit);
    if (!is_node && painter.has_text()) {
      const Hit caret = ui.hit("fold/" + id, painter.caret_of(b), scene_.boxes[b].label, "folded");
      navigate(caret);
      if (caret.clicked) {
        toggle(workspace, box.item);
      }
    }
  }
}

Actions GraphPanel::actions(Workspace& workspace) {
  Actions actions = fold_actions(workspace);
  if (!scene_.empty() && workspace.document.capture() == capture_) {
    actions.insert(actions.end(),
                   {{"Frame the selection", "F", [&] { frame_selection(workspace); }},
                    {"Frame the whole graph", "Home", [this] { camera_.frame(scene_.bounds); }},
                    {"Colour by the next quantity", "C",
                     [&] { workspace.colour_by = after(workspace.colour_by); }},
                    {"Show or hide barriers", "H", [this] { barriers_ = !barriers_; }}});
    std::ranges::move(move_actions(
                          [this](double right, double down) {
                            const Box seen = camera_.viewport();
                            camera_.pan({-static_cast<float>(right) * seen.width(),
                                         -static_cast<float>(down) * seen.height()});
                          },
                          [this](double steps) {
                            const Box seen = camera_.viewport();
                            camera_.zoom_by(
                                std::pow(kWheelStep, static_cast<float>(steps)),
                                {(seen.min.x + seen.max.x) / 2, (seen.min.y + seen.max.y) / 2});
                          }),
                      std::back_inserter(actions));
  }
  return actions;
}

// ---- the bar above the canvas

void GraphPanel::draw_crumbs(Ui& ui, Workspace& workspace, const Box& row) {
  std::vector<std::uint32_t> chain;
  for (std::uint32_t item = selected_item(workspace); item != 0;
       item = workspace.scopes[item].parent) {
    chain.push_back(item);
  }
  chain.push_back(0);
  std::reverse(chain.begin(), chain.end());
  const float widest = ui.px(180), arrow = ui.px(14);
  float x = row.min.x;
  for (std::size_t i = 0; i < chain.size() && x + arrow < row.max.x; ++i) {
    const std::string& of =
        chain[i] == 0 ? capture_->summary.name : workspace.scopes[chain[i]].name;
    std::string name = printable(of.substr(0, 200));
    name = chain[i] == 0 && name.empty() ? "graph" : name;
    const float width = std::min({std::ceil(ui.text_size(name).x), widest, row.max.x - x});
    const Box box{{x, row.min.y}, {x + width, row.max.y}};
    const bool last = i + 1 == chain.size();
    const Hit hit = ui.hit("crumb/" + std::to_string(i), box, name, last ? "selected" : "");
    ui.text_in("", box, name, {.colour = last || hit.hovered ? Colour::text : Colour::dim});
    if (hit.clicked) {
      select(workspace, i == 0 ? Selection{} : Selection{.node = {}, .item = chain[i]});
      frame_selection(workspace);
    }
    x += width;
    if (!last && x + arrow < row.max.x) {
      ui.text_in("", {{x, row.min.y}, {x + arrow, row.max.y}}, "\xE2\x80\xBA",
                 {.colour = Colour::dim, .align = Align::centre});
      x += arrow;
    }
  }
}

float GraphPanel::draw_tools(Ui& ui, Workspace& workspace, const Box& row) {
  std::vector<std::string> colourings;
  float widest = 0;
  for (std::size_t c = 0; c < kColourings; ++c) {
    colourings.push_back(std::string("Colour: ") + name_of(static_cast<ColourBy>(c)));
    widest = std::max(widest, ui.text_size(colourings.back()).x);
  }
  constexpr const char* kBarriers = "Barriers";
  const float gap = ui.px(4), pad = ui.px(16), combo = widest + ui.row_height() + pad;
  const float width = combo + ui.text_size(kBarriers).x + pad + 2 * gap + ui.row_height();
  const ImVec2 at{std::floor(row.max.x - width), row.min.y};
  if (at.x < row.min.x + ui.px(120)) {
    return row.max.x;  // too narrow: the keys do the same
  }
  ImGui::SetCursorScreenPos(at);
  auto chosen = static_cast<std::size_t>(workspace.colour_by);
  if (ui.combo("colour_by", colourings, chosen, combo)) {
    workspace.colour_by = static_cast<ColourBy>(chosen);
  }
  ImGui::SetCursorScreenPos({at.x + combo + gap, at.y});
  ui.toggle("barriers", kBarriers, barriers_);
  ImGui::SameLine(0, gap);
  if (ui.icon_button("frame_all", icon::kFrame, "Frame all (Home)")) {
    camera_.frame(scene_.bounds);
  }
  return at.x - ui.px(kBarMargin);
}

void GraphPanel::draw_bar(Ui& ui, Workspace& workspace, const Box& bar) {
  ui.fill(bar, ui.colour(Colour::panel));
  const float middle = (bar.min.y + bar.max.y) / 2, half = ui.row_height() / 2;
  Box row{{bar.min.x + ui.px(kBarMargin), middle - half},
          {bar.max.x - ui.px(kBarMargin), middle + half}};
  row.max.x = draw_tools(ui, workspace, row);
  draw_crumbs(ui, workspace, row);
}

// ---- the panel

void GraphPanel::update_not_finite(Workspace& workspace) {
  workspace.show_numbers();
  const TensorStatistics* const numbers = workspace.numbers.value();
  if (std::exchange(numbers_, workspace.numbers.revision()) != workspace.numbers.revision()) {
    not_finite_ = numbers == nullptr ? std::vector<bool>() : nodes_not_finite(*capture_, *numbers);
  }
}

void GraphPanel::update_values(Workspace& workspace) {
  const ColourBy by = workspace.colour_by;
  if (by == ColourBy::time || by == ColourBy::op) {
    values_.reset();
    return;
  }
  if (by == ColourBy::error) {
    workspace.show_numbers();
    workspace.errors.refresh(capture_, workspace.numbers);
  }
  const Document& document = workspace.document;
  const Made made{capture_.get(), by, document.revision(), workspace.errors.version()};
  if (values_ && made_ == made) {
    return;
  }
  made_ = made;
  const bool read = workspace.numbers.value() != nullptr;
  values_ = node_values(by, *capture_, document.statistics(),
                        read ? &workspace.errors.errors() : nullptr);
  if (by == ColourBy::error && !workspace.numbers.problem().empty()) {
    values_->missing = workspace.numbers.problem();
  }
}

GraphLook GraphPanel::look_at(const Workspace& workspace, const ItemTimes& times) const {
  GraphLook look{.capture = *capture_, .scopes = workspace.scopes, .scene = scene_, .times = times};
  look.colour_by = workspace.colour_by;
  look.values = values_ ? &*values_ : nullptr;
  look.not_finite = &not_finite_;
  look.barriers = barriers_;
  look.hovered = hovered_;
  look.hovered_line = hovered_line_;
  look.selected_nodes = workspace.selection.current().nodes;
  const std::uint32_t item = selected_item(workspace);
  if (item != 0) {
    look.selected_item = item;
    const std::uint32_t box = scene_.graph.node_boxes[workspace.scopes[item].first];
    // An unfolded scope is not one box: its frame shows the selection.
    if (scene_.graph.boxes[box].count >= workspace.scopes[item].count) {
      look.selected = box;
    }
  }
  return look;
}

void GraphPanel::draw(Ui& ui, Workspace& workspace) {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  if (workspace.scopes.empty()) {
    draw_empty_state(ui, "The captured graph has no nodes",
                     "recorded.output(\"y\", matmul(recorded, x, w));");
    return;
  }
  // The bars lie beside the canvas, so that they cover no node; a low panel has none.
  const Box all = ui.rest();
  const float high = ui.row_height() + ui.px(8);
  const bool bars = all.height() > 4 * high;
  const Box above{all.min, {all.max.x, all.min.y + (bars ? high : 0)}};
  const Box below{{all.min.x, all.max.y - (bars ? high : 0)}, all.max};
  camera_.set_viewport({{all.min.x, above.max.y}, {all.max.x, below.min.y}}, ui.scale());
  if (camera_.viewport().empty()) {
    return;
  }
  if (workspace.reveal) {
    workspace.folds.reveal(workspace.scopes, selected_item(workspace));
  }
  update_scene(workspace);
  update_camera(workspace);
  update_not_finite(workspace);
  update_values(workspace);
  const ItemTimes times(workspace.document.statistics(), capture_->nodes.size());
  const GraphLook look = look_at(workspace, times);
  GraphPainter painter(ui, camera_, look);
  draw_canvas(ui, workspace, look, painter);
  if (bars) {
    draw_bar(ui, workspace, above);
    draw_graph_legend(ui, below, look, painter);
  }
  publish(ui, workspace);
}

void GraphPanel::draw_canvas(Ui& ui, Workspace& workspace, const GraphLook& look,
                             GraphPainter& painter) {
  const auto canvas = ui.canvas(camera_.viewport());
  ui.fill(camera_.viewport(), ui.colour(Colour::background));
  handle_canvas(ui, workspace, painter);
  handle_frames(ui, workspace, painter);
  handle_boxes(ui, workspace, painter);

  painter.draw_frames();
  const std::optional<std::uint32_t> nearest = painter.draw_lines();
  hovered_line_ = over_canvas_ && !hovered_ ? nearest : std::nullopt;
  painter.draw_boxes();
  minimap_.draw(ui, camera_, scene_, painter.colours(), painter.visible());
  const std::string told = hovered_line_ ? line_tooltip(look, *hovered_line_)
                           : hovered_
                               ? box_tooltip(look, painter, *hovered_, ImGui::GetIO().MousePos)
                               : "";
  if (!told.empty()) {
    ui.tooltip(told);
  }
  draw_context_menu(ui, std::exchange(menu_, false), [&] { return selection_menu(workspace); });
}

void GraphPanel::publish(Ui& ui, const Workspace& workspace) const {
  std::array<char, 32> zoom{};
  std::snprintf(zoom.data(), zoom.size(), "%.3g", static_cast<double>(camera_.zoom()));
  ui.publish("zoom", zoom.data());
  ui.publish("boxes", std::to_string(scene_.boxes.size()));
  ui.publish("barriers_shown", barriers_ ? "true" : "false");
  ui.publish("colour", name_of(workspace.colour_by));
  ui.publish("hovered", hovered_ ? scene_.boxes[*hovered_].label : "");
}

std::string GraphPanel::sql(const Workspace& workspace) const {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  return "SELECT n.idx, n.scope, n.op, n.level, e.src AS waits_for, e.kind, t.name AS tensor, "
         "t.nbytes\n"
         "FROM nodes n\n"
         "LEFT JOIN edges e ON e.graph_id = n.graph_id AND e.dst = n.idx\n"
         "LEFT JOIN tensors t ON t.graph_id = e.graph_id AND t.idx = e.tensor_idx\n"
         "WHERE n.graph_id = " +
         std::to_string(capture->summary.id.graph) + "\nORDER BY n.idx, e.src;";
}

Gestures GraphPanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Drag", "Move the graph; in the small one: what is seen of it"},
      {"Wheel", "Larger or smaller"},
      {"Double click", "Fold or unfold a scope"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
