// The window: a header with the capture, the replay strip, the panels in the places of a layout,
// and a status bar. One panel can fill the window.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/layout.h"
#include "debugger/views/commands.h"
#include "debugger/views/layout_dialog.h"
#include "debugger/views/numerics_actions.h"
#include "debugger/views/places.h"

namespace reprise::debugger {

class Shell {
 public:
  Shell();
  /// Fills the window.
  void draw(Ui& ui, Workspace& workspace);
  /// `add` puts the actions of the window around it to those of the shell.
  void add_actions_by(std::function<void(ActionGroups&)> add);
  /// Brings a panel to the front, also a closed one; `alone` fills the window with it. Throws
  /// invalid_argument naming the panels there are.
  void show(std::string_view panel, bool alone);
  /// All of them, the replay strip first, whether they are in sight or not.
  std::vector<Panel*> panels();
  /// The picture of the last frame that somebody asked for in the one before, from a menu that is
  /// gone by then.
  std::optional<PictureRequest> take_picture_request();

  /// The layouts in use, for the settings: places are as they are now.
  const std::vector<Layout>& layouts() const { return layouts_; }
  std::size_t layout() const { return layout_; }
  /// Those of the settings, one of which is chosen; their panels are those of usual_layouts().
  void set_layouts(std::vector<Layout> layouts, std::size_t chosen);

 private:
  void draw_body(Ui& ui, Workspace& workspace, const Box& box);
  void draw_alone(Ui& ui, Workspace& workspace, Panel& panel, const Box& box);
  /// Of the window and of the panels in sight; without a capture of the window alone.
  ActionGroups actions(Ui& ui, Workspace& workspace);
  /// Of the other panels: each shows its panel first.
  ActionGroups hidden_actions(Workspace& workspace);
  ActionGroup panel_actions(Workspace& workspace, Panel& panel, bool in_sight);
  Actions file_actions();
  Actions view_actions(Workspace& workspace);
  Actions go_actions(Ui& ui, Workspace& workspace);
  void add_bookmarks(Workspace& workspace, Actions& actions);
  void export_csv(Workspace& workspace, std::string_view panel);
  void add_layouts(Actions& actions);
  /// What the panel under the mouse can be asked to do with its place.
  void add_moves(Actions& actions);
  void choose_layout(std::size_t layout);
  Place& places() { return layouts_[layout_].all; }
  std::vector<Panel*> panels_in_sight();
  Panel* find(std::string_view panel);

  std::unique_ptr<Panel> strip_;
  std::vector<std::unique_ptr<Panel>> panels_;
  Places in_places_;
  NumericsActions numerics_;
  PanelRequests requests_;
  std::optional<PictureRequest> picture_;  // of this frame
  std::string alone_;                      // the panel that fills the window
  std::string hovered_;                    // the panel the mouse was over last
  std::string latest_;                     // the panel that was shown last
  std::vector<Layout> layouts_ = usual_layouts();
  std::size_t layout_ = 0;
  LayoutDialog layout_dialog_;
  std::function<void(ActionGroups&)> add_actions_ = [](ActionGroups& /*groups*/) {};
  Commands commands_;
};

}  // namespace reprise::debugger
