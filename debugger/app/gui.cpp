#include "debugger/app/gui.h"

#include "debugger/app/svg_picture.h"
#include "debugger/app/ui_scale.h"
#include "debugger/ui/imgui_shim.h"

namespace reprise::debugger {

Gui::Gui(float scale) : context_(ImGui::CreateContext()) {
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;  // nothing is drawn between events
  imgui::map_keys();
  set_scale(scale);
}

Gui::~Gui() { ImGui::DestroyContext(context_); }

void Gui::make_current() { ImGui::SetCurrentContext(context_); }

void Gui::set_scale(float scale) {
  require_ui_scale(scale);
  make_current();
  scale_ = scale;
  fonts_ = build_fonts(scale);
  apply_style(theme_, scale);
  ImGui::GetIO().FontDefault = fonts_[FontKind::regular];
  ImGui::GetIO().MouseDragThreshold = 6 * scale;
  ui_.emplace(fonts_, theme_, registry_, keys_, pointer_, scale);
}

void Gui::set_theme(ThemeKind kind) {
  if (kind != theme_kind_) {
    make_current();
    theme_kind_ = kind;
    theme_ = theme_of(kind);
    apply_style(theme_, scale_);
  }
}

void Gui::frame(const DrawUi& draw) {
  make_current();
  keys_.begin_frame();
  mouse_.begin_frame();
  registry_.begin_frame();
  ImGui::NewFrame();
  pointer_.begin_frame();
  ui_->begin_frame();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("root", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBringToFrontOnFocus);
  try {
    draw(*ui_);
  } catch (...) {
    ImGui::End();
    ImGui::EndFrame();
    throw;
  }
  ImGui::End();
  ImGui::Render();
}

void Gui::write_svg(const Box& box, const std::filesystem::path& path) {
  debugger::write_svg(*draw_data(), ui_->texts(), fonts_, box, theme_[Colour::background], path);
}

ImDrawData* Gui::draw_data() {
  make_current();
  return ImGui::GetDrawData();
}

}  // namespace reprise::debugger
