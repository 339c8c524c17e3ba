// The tabs of a place of the window, with the menu every panel has (Copy SQL, PNG, Close).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/layout.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

/// A picture of a panel, for the host to write when the frame is drawn; PNG or SVG, as the file is
/// called.
struct PictureRequest {
  std::string file;
  Box box;
};

/// What the menu of a panel asks of the shell; panels by id.
struct PanelRequests {
  std::optional<PictureRequest> picture;
  std::optional<std::string> csv;
  std::optional<std::string> maximise;  // the same again restores
  std::optional<std::string> show;
  std::optional<std::string> close;
};

using PanelOfId = std::function<Panel&(std::string_view)>;

/// Where the parts of a place were drawn.
struct TabArea {
  std::string front;
  Box bar, content;
  std::vector<Box> tabs;
  std::optional<std::string> dragged;  // the panel whose tab the mouse pulls
};

/// A bar of tabs over the panel in front.
TabArea draw_tab_area(Ui& ui, Workspace& workspace, const Place& place, const PanelOfId& panel,
                      const Box& box, PanelRequests& requests);

/// Where a bar has the button with the menu of a panel.
Box menu_button(const Ui& ui, const Box& bar);

/// The button with the menu of a panel; `box` is what a picture of the panel shows.
void draw_panel_menu(Ui& ui, Workspace& workspace, const Panel& panel, const Box& button,
                     const Box& box, PanelRequests& requests);

}  // namespace reprise::debugger
