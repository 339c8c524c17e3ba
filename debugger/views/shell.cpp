#include "debugger/views/shell.h"

#include <algorithm>
#include <array>
#include <utility>

#include "debugger/views/barriers_panel.h"
#include "debugger/views/diff_panel.h"
#include "debugger/views/graph_panel.h"
#include "debugger/views/header_bar.h"
#include "debugger/views/inspector_panel.h"
#include "debugger/views/memory_panel.h"
#include "debugger/views/nodes_panel.h"
#include "debugger/views/numerics_panel.h"
#include "debugger/views/outline_panel.h"
#include "debugger/views/passes_panel.h"
#include "debugger/views/replay_strip_panel.h"
#include "debugger/views/sql_panel.h"
#include "debugger/views/tensors_panel.h"
#include "debugger/views/timeline_panel.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

template <class... Panels>
std::vector<std::unique_ptr<Panel>> panels() {
  std::vector<std::unique_ptr<Panel>> made;
  (made.push_back(std::make_unique<Panels>()), ...);
  return made;
}

/// A bar between two parts that can be dragged along x or y: how far, at 1x.
float splitter(Ui& ui, std::string_view id, const Box& bar, bool along_x) {
  const Ui::Scope scope = ui.scope("splitter");
  const Hit hit = ui.hit(id, bar);
  if (hit.hovered || hit.held) {
    ImGui::SetMouseCursor(along_x ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ui.fill(bar, ui.colour(Colour::accent));
  }
  return (along_x ? hit.dragged.x : hit.dragged.y) / ui.scale();
}

}  // namespace

Shell::Shell()
    : strip_(std::make_unique<ReplayStripPanel>()),
      left_(panels<OutlinePanel, NodesPanel>()),
      centre_(panels<GraphPanel, DiffPanel>()),
      right_(panels<InspectorPanel, TensorsPanel>()),
      bottom_(panels<TimelinePanel, MemoryPanel, BarriersPanel, PassesPanel, NumericsPanel,
                     SqlPanel>()) {}

Panel* Shell::find(std::string_view panel) {
  if (strip_->id() == panel) {
    return strip_.get();
  }
  for (TabArea* area : {&left_, &centre_, &right_, &bottom_}) {
    for (const std::unique_ptr<Panel>& candidate : area->panels()) {
      if (candidate->id() == panel) {
        return candidate.get();
      }
    }
  }
  return nullptr;
}

void Shell::show(std::string_view panel, bool alone) {
  if (find(panel) == nullptr) {
    std::string known(strip_->id());
    for (const TabArea* area : {&left_, &centre_, &right_, &bottom_}) {
      for (const std::unique_ptr<Panel>& candidate : area->panels()) {
        known += ", " + std::string(candidate->id());
      }
    }
    invalid("There is no panel (" + std::string(panel) + "); there are " + known + ".");
  }
  for (TabArea* area : {&left_, &centre_, &right_, &bottom_}) {
    area->show(panel);
  }
  alone_ = alone ? panel : "";
}

std::optional<PictureRequest> Shell::take_picture_request() {
  return std::exchange(picture_, std::nullopt);
}

void Shell::keys(Ui& ui, Workspace& workspace) {
  if (ui.keys().take("Alt+Left")) {
    workspace.back();
  }
  if (ui.keys().take("Alt+Right")) {
    workspace.forward();
  }
  if (ui.keys().take("F11")) {
    requests_.maximise = alone_.empty() ? hovered_ : alone_;
  }
  if (ui.keys().take("Ctrl+F")) {
    alone_.clear();
    left_.show("nodes");
    ui.focus("nodes/filter");
  }
  if (!alone_.empty()) {
    find(alone_)->keys(ui, workspace);
    return;
  }
  strip_->keys(ui, workspace);
  for (TabArea* area : {&left_, &centre_, &right_, &bottom_}) {
    area->active().keys(ui, workspace);
  }
}

void Shell::draw(Ui& ui, Workspace& workspace) {
  if (ImGui::IsMouseClicked(0)) {
    workspace.notice.clear();
  }
  picture_ = std::exchange(requests_.picture, std::nullopt);
  const Box all = ui.rest();
  const float header = ui.px(38);
  const float status = ui.px(24);
  draw_header_bar(ui, workspace, {all.min, {all.max.x, all.min.y + header}});
  draw_body(ui, workspace, {{all.min.x, all.min.y + header}, {all.max.x, all.max.y - status}});
  numerics_keys_.take(ui, workspace);  // says what it found below
  draw_status_bar(ui, workspace, {{all.min.x, all.max.y - status}, all.max});
  keys(ui, workspace);
  if (requests_.maximise) {
    alone_ = *requests_.maximise == alone_ ? "" : *requests_.maximise;
    requests_.maximise.reset();
  }
}

void Shell::draw_alone(Ui& ui, Workspace& workspace, Panel& panel, const Box& box) {
  const Box bar{box.min, {box.max.x, box.min.y + ui.px(30)}};
  const Box content{{box.min.x, bar.max.y}, box.max};
  ui.text_in("alone", {{bar.min.x + ui.px(14), bar.min.y}, bar.max}, panel.title(),
             {.font = FontKind::semibold});
  ui.fill(content, ui.colour(Colour::panel));
  draw_panel_menu(ui, workspace, panel, menu_button(ui, bar), content, requests_);
  draw_panel(ui, workspace, panel, content);
}

void Shell::draw_body(Ui& ui, Workspace& workspace, const Box& box) {
  if (!workspace.document.capture()) {
    const Ui::Scope scope = ui.scope("body");
    ImGui::SetCursorScreenPos(box.min);
    const Ui::Region region = ui.region("empty", {box.width(), box.height()}, false);
    draw_no_capture(ui, workspace);
    return;
  }
  if (!alone_.empty()) {
    draw_alone(ui, workspace, *find(alone_), box);
    return;
  }
  const float bar = ui.px(5);
  const float strip_height = ui.px(56);
  const Box strip{box.min, {box.max.x, box.min.y + strip_height}};
  const float menu = ui.px(26);
  draw_panel(ui, workspace, *strip_, {strip.min, {strip.max.x - menu, strip.max.y}});
  draw_panel_menu(ui, workspace, *strip_, {{strip.max.x - menu, strip.min.y + ui.px(4)}, strip.max},
                  strip, requests_);

  const Box body{{box.min.x, strip.max.y + bar}, box.max};
  const float least = 120;
  const float width = body.width() / ui.scale();
  const float height = body.height() / ui.scale();
  left_width_ = std::clamp(left_width_, least, std::max(least, width / 2 - least));
  right_width_ = std::clamp(right_width_, least, std::max(least, width / 2 - least));
  bottom_height_ = std::clamp(bottom_height_, least / 2, std::max(least / 2, height - least));
  const float middle = body.max.y - ui.px(bottom_height_) - bar;
  const float left = body.min.x + ui.px(left_width_);
  const float right = body.max.x - ui.px(right_width_);

  left_width_ += splitter(ui, "left", {{left, body.min.y}, {left + bar, middle}}, true);
  right_width_ -= splitter(ui, "right", {{right - bar, body.min.y}, {right, middle}}, true);
  bottom_height_ -=
      splitter(ui, "bottom", {{body.min.x, middle}, {body.max.x, middle + bar}}, false);

  struct Part {
    TabArea& area;
    Box box;
  };
  const std::array parts{Part{left_, {body.min, {left, middle}}},
                         Part{centre_, {{left + bar, body.min.y}, {right - bar, middle}}},
                         Part{right_, {{right, body.min.y}, {body.max.x, middle}}},
                         Part{bottom_, {{body.min.x, middle + bar}, body.max}}};
  const ImVec2 mouse = ImGui::GetMousePos();
  hovered_ = strip.contains(mouse) ? strip_->id() : "";
  for (const Part& part : parts) {
    part.area.draw(ui, workspace, part.box, requests_);
    if (part.box.contains(mouse)) {
      hovered_ = part.area.active().id();
    }
  }
}

}  // namespace reprise::debugger
