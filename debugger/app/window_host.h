// The debugger in a window. Draws when FramePacing says so: after input, and after a view said that
// it has changed.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "debugger/app/graphics_device.h"
#include "debugger/app/view.h"
#include "debugger/model/settings.h"

namespace reprise::debugger {

struct WindowOptions {
  std::string title = "reprise-debugger";
  float width = 1600, height = 900;  // at 1x; less if the screen is smaller
  std::optional<float> scale;        // instead of that of the screen
  int zoom = 0;                      // steps of Ctrl + and -
  /// Instead of width and height; ignored where no screen is by now.
  std::optional<WindowPlace> place;
  bool validation = false;
  /// Where write_window_state() keeps what it shows; empty: nowhere.
  std::filesystem::path state;
};

/// No window is made smaller by its user, at 1x.
inline constexpr int kMinWidth = 640, kMinHeight = 400;

class WindowHost {
 public:
  /// Throws Error(unsupported) if there is no display, or nothing that can draw on it.
  explicit WindowHost(const WindowOptions& options);
  ~WindowHost();
  WindowHost(const WindowHost&) = delete;
  WindowHost& operator=(const WindowHost&) = delete;

  /// Until the window is closed.
  void run(const View& view);
  /// From within run(): ends it after the frame.
  void close();
  int zoom() const;
  /// Where it is; where it was before, while it is maximised or minimised.
  WindowPlace place() const;
  /// What the last frame showed.
  const WidgetRegistry& registry() const;
  std::shared_ptr<const ValidationLog> validation_log() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise::debugger
