// The sheet of keys: what every key does, and the mouse, everywhere and in each panel.
#pragma once
#include "debugger/views/action.h"

namespace reprise::debugger {

class KeySheet {
 public:
  void open() { open_ = true; }
  bool is_open() const { return open_; }
  /// Over the window while it is open. Paths: "keys/left/<group>/<n>", "keys/right/..." for keys
  /// and
  /// ".../mouse/<n>" for gestures; texts are the keys. Groups of the window are named by their
  /// menu.
  void draw(Ui& ui, const std::vector<ActionGroup>& groups);

 private:
  bool open_ = false;
};

}  // namespace reprise::debugger
