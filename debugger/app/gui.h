// An ImGui context and all that drawing a frame needs. Hosts give it input and show what comes out.
#pragma once
#include <filesystem>
#include <functional>
#include <imgui.h>
#include <optional>

#include "debugger/app/mouse_queue.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// Draws one frame into a window that covers everything.
using DrawUi = std::function<void(Ui&)>;

class Gui {
 public:
  explicit Gui(float scale);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// Before any use of ImGui: there may be other contexts.
  void make_current();
  float scale() const { return scale_; }
  /// Rebuilds the fonts; the renderer has to take over the new atlas. Throws invalid_argument if
  /// the scale is out of range: see ui_scale.h.
  void set_scale(float scale);
  /// From the next frame on.
  void set_theme(ThemeKind kind);
  /// ImGui's size and time are set by the host.
  void frame(const DrawUi& draw);
  /// Of the last frame; null before the first.
  ImDrawData* draw_data();

  /// Throws Error(io). See svg_picture.h.
  void write_svg(const Box& box, const std::filesystem::path& path);
  const Theme& theme() const { return theme_; }
  KeyQueue& keys() { return keys_; }
  MouseQueue& mouse() { return mouse_; }
  /// Input waits for the next frame.
  bool pending() const { return keys_.pending() || mouse_.pending(); }
  const WidgetRegistry& registry() const { return registry_; }

 private:
  ImGuiContext* context_;
  ThemeKind theme_kind_ = ThemeKind::dark;
  Theme theme_ = theme_of(ThemeKind::dark);
  Fonts fonts_;
  KeyQueue keys_;
  MouseQueue mouse_;
  Pointer pointer_;
  WidgetRegistry registry_;
  float scale_ = 1;
  std::optional<Ui> ui_;
};

}  // namespace reprise::debugger
