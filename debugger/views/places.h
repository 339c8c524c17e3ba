// The places of a layout in the window: their tabs, the bars between them, and a tab that is
// dragged to somewhere else.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/views/tab_area.h"

namespace reprise::debugger {

class Places {
 public:
  /// Bars that are dragged and tabs that are dropped change the layout. `latest`: the panel that
  /// was shown last, which is in front where places are joined for lack of room.
  void draw(Ui& ui, Workspace& workspace, Place& all, std::string_view latest,
            const PanelOfId& panel, const Box& box, PanelRequests& requests);
  /// The panels in front.
  std::vector<std::string> fronts() const;
  /// The panel that is under the mouse; empty beside all.
  const std::string& hovered() const { return hovered_; }

 private:
  void draw_place(Ui& ui, Workspace& workspace, Place& place, const PanelOfId& panel,
                  const Box& box, PanelRequests& requests);
  /// Says where the tab would go, and takes it there when the button goes up.
  void drag_tab(Ui& ui, Place& all);

  std::string latest_, hovered_;
  std::string dragged_;    // the panel whose tab is dragged
  bool given_up_ = false;  // by Escape, until the button goes up
  // Of this frame:
  std::vector<TabArea> areas_;
  std::size_t bars_ = 0;
};

}  // namespace reprise::debugger
