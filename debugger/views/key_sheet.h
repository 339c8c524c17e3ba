// The sheet of keys: what every key does, everywhere and in each panel.
#pragma once
#include "debugger/views/action.h"

namespace reprise::debugger {

class KeySheet {
 public:
  void open() { open_ = true; }
  bool is_open() const { return open_; }
  /// Over the window while it is open. Paths:
  /// "keys/left/<group>/<n>", "keys/right/..."; texts are the keys.
  void draw(Ui& ui, const std::vector<ActionGroup>& groups);

 private:
  bool open_ = false;
};

}  // namespace reprise::debugger
