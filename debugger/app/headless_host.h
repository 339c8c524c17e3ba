// The debugger without a screen, for pictures, scripts and tests. Frames are a fixed time apart.
// Vulkan is opened for the first picture only.
#pragma once
#include <optional>

#include "debugger/app/gui.h"
#include "debugger/app/picture.h"
#include "debugger/app/renderer.h"
#include "debugger/app/view.h"

namespace reprise::debugger {

struct HeadlessOptions {
  std::uint32_t width = 1600, height = 900;  // pixels, whatever the scale
  float scale = 1;
  bool validation = false;
};

class HeadlessHost {
 public:
  explicit HeadlessHost(const HeadlessOptions& options = {});

  void frame(const DrawUi& draw);
  void set_theme(ThemeKind kind) { gui_.set_theme(kind); }
  /// Of the last frame. Throws Error(unsupported) if nothing can draw here.
  Picture picture();
  /// Of both, for a view.
  FramePictures pictures();

  KeyQueue& keys() { return gui_.keys(); }
  MouseQueue& mouse() { return gui_.mouse(); }
  /// From the next frame on.
  void resize(std::uint32_t width, std::uint32_t height) {
    options_.width = width;
    options_.height = height;
  }
  /// Input waits for the next frame.
  bool pending() const { return gui_.pending(); }

  const HeadlessOptions& options() const { return options_; }
  /// What the last frame showed.
  const WidgetRegistry& registry() const { return gui_.registry(); }
  /// Of the validation layer, if it was asked for.
  std::vector<std::string> validation_messages() const;

 private:
  HeadlessOptions options_;
  Gui gui_;
  std::optional<Renderer> renderer_;
};

}  // namespace reprise::debugger
