// Where the keyboard is: one of the widgets and panels in sight. Tab and Shift+Tab move it in the
// order in which they are drawn, F6 and Shift+F6 from panel to panel; while a menu or dialog is
// open it stays there, and Up and Down move it too. Escape leaves it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/ui/keys.h"

namespace reprise::debugger {

class Focus {
 public:
  /// After ImGui::NewFrame. `keeps_tab`: a text that is edited wants it.
  void begin_frame(KeyQueue& keys, bool keeps_tab);
  /// A place at which Tab stops, `depth` menus deep. Returns true if the focus is drawn there.
  bool stop(std::string_view path, std::size_t depth, bool panel = false);
  /// The focus came to this place in this frame.
  bool arrived(std::string_view path) const { return moved_ && at() == path; }
  /// Draws it there from the next frame on.
  void go(std::string_view path);
  /// The next Tab begins there; nothing is drawn.
  void note(std::string_view path, std::size_t depth);
  /// Where it is drawn; empty if nowhere.
  std::string_view drawn() const { return visible_ ? at() : std::string_view(); }

 private:
  struct Stop {
    std::string path;
    std::size_t depth;
    bool panel;
  };
  std::string_view at() const { return at_.back(); }
  void move(const std::vector<Stop>& stops, bool back, bool panels);

  std::vector<Stop> stops_;             // of this frame
  std::vector<std::string> at_ = {""};  // by depth
  bool visible_ = false, moved_ = false;
};

}  // namespace reprise::debugger
