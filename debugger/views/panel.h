// A panel: one view of the workspace, in a tab or a bar of the shell.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/model/table_arrangement.h"
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"
#include "debugger/views/action.h"

namespace reprise::debugger {

/// Beside the title of a panel: "2", in the colour of what is wrong.
struct PanelBadge {
  std::string text;
  Colour colour = Colour::warning;
};

/// A table of a panel, whose arrangement the settings keep.
struct PanelTable {
  std::string_view id;
  TableArrangement* arrangement;
};

class Panel {
 public:
  virtual ~Panel() = default;
  /// Part of paths, file names and command lines: "graph". Lower case.
  virtual std::string_view id() const = 0;
  virtual std::string_view title() const = 0;
  /// Fills the region it is called in, which draw_panel() opened: paths of what is drawn here begin
  /// with the panel's id already. There is a capture.
  virtual void draw(Ui& ui, Workspace& workspace) = 0;
  /// A query that gives what the panel shows, for "Copy SQL"; runs as it is in any SQLite client.
  /// There is a capture.
  virtual std::string sql(const Workspace& workspace) const = 0;
  /// What can be asked of it; its keys count while it is in sight, after the shell's own. Valid
  /// until the next frame. There is a capture.
  virtual Actions actions(Workspace& /*workspace*/) { return {}; }
  /// Those that show the same columns for every database.
  virtual std::vector<PanelTable> tables() { return {}; }
  /// What the mouse does in it, beyond what it does everywhere.
  virtual Gestures gestures() const { return {}; }
  /// What its tab says beside the title, also while another panel is in front; nothing if all is
  /// well. There is a capture.
  virtual std::optional<PanelBadge> badge(Workspace& /*workspace*/) { return {}; }
};

/// Returns how many of `count` rows, which a panel made of the capture `listed`, can be gone to.
/// None once the workspace shows a different capture: a hidden panel lists its rows when it is
/// drawn.
std::size_t current_rows(const Workspace& workspace, const std::shared_ptr<const Capture>& listed,
                         std::size_t count);

/// Draws a panel, or why there is no capture, into a box of the window: "<panel id>/..." are its
/// paths.
void draw_panel(Ui& ui, Workspace& workspace, Panel& panel, const Box& box);

/// The middle of an empty panel: what is missing, and the call that provides it.
void draw_empty_state(Ui& ui, std::string_view what, std::string_view call);

/// The middle of a window or panel without a capture: why there is none.
void draw_no_capture(Ui& ui, const Workspace& workspace);

}  // namespace reprise::debugger
