// The window: a header with the capture, the replay strip, the panels in three columns over a row,
// and a status bar. Sizes of the parts can be dragged; one panel can fill the window.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/views/numerics_actions.h"
#include "debugger/views/tab_area.h"

namespace reprise::debugger {

class Shell {
 public:
  Shell();
  /// Fills the window.
  void draw(Ui& ui, Workspace& workspace);
  /// Brings a panel to the front; `alone` fills the window with it. Throws invalid_argument naming
  /// the panels there are.
  void show(std::string_view panel, bool alone);
  /// The picture of the last frame that somebody asked for in the one before, from a menu that is
  /// gone by then.
  std::optional<PictureRequest> take_picture_request();

 private:
  void draw_body(Ui& ui, Workspace& workspace, const Box& box);
  void draw_alone(Ui& ui, Workspace& workspace, Panel& panel, const Box& box);
  void keys(Ui& ui, Workspace& workspace);
  Panel* find(std::string_view panel);

  std::unique_ptr<Panel> strip_;
  TabArea left_, centre_, right_, bottom_;
  NumericsKeys numerics_keys_;
  PanelRequests requests_;
  std::optional<PictureRequest> picture_;  // of this frame
  std::string alone_;                      // the panel that fills the window
  std::string hovered_;                    // the panel the mouse is over
  float left_width_ = 400, right_width_ = 380, bottom_height_ = 230;  // at 1x
};

}  // namespace reprise::debugger
