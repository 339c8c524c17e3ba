// A region of the shell: panels behind a bar of tabs, with the menu every panel has (Copy SQL,
// PNG).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/views/panel.h"

namespace reprise::debugger {

/// A picture of a panel, for the host to write when the frame is drawn; PNG or SVG, as the file is
/// called.
struct PictureRequest {
  std::string file;
  Box box;
};

/// What the menu of a panel asks of the shell.
struct PanelRequests {
  std::optional<PictureRequest> picture;
  std::optional<std::string> csv;       // a panel id
  std::optional<std::string> maximise;  // a panel id; the same again restores
};

class TabArea {
 public:
  explicit TabArea(std::vector<std::unique_ptr<Panel>> panels) : panels_(std::move(panels)) {}
  void draw(Ui& ui, Workspace& workspace, const Box& box, PanelRequests& requests);
  /// Brings a panel of this area to the front; false if it has no such panel.
  bool show(std::string_view id);
  Panel& active() { return *panels_[active_]; }
  const Panel& active() const { return *panels_[active_]; }
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }

 private:
  std::vector<std::unique_ptr<Panel>> panels_;
  std::size_t active_ = 0;
};

/// Where a bar has the button with the menu of a panel.
Box menu_button(const Ui& ui, const Box& bar);

/// The button with the menu of a panel; `box` is what a picture of the panel shows.
void draw_panel_menu(Ui& ui, Workspace& workspace, const Panel& panel, const Box& button,
                     const Box& box, PanelRequests& requests);

}  // namespace reprise::debugger
