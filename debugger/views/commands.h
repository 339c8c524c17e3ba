// Every command there is, from one table: behind its key, in the palette, in the menu bar and on
// the sheet of keys.
#pragma once
#include <functional>
#include <vector>

#include "debugger/views/key_sheet.h"
#include "debugger/views/palette.h"

namespace reprise::debugger {

using ActionGroups = std::vector<ActionGroup>;

class Commands {
 public:
  /// The palette and the sheet themselves.
  ActionGroup help();
  /// Draws the menu bar into a box and what is open over the window, and runs what is chosen or
  /// whose key was pressed. Keys are those of `in_sight`; `hidden` is asked for the others when a
  /// person looks at them.
  void draw(Ui& ui, const Box& menu_bar, ActionGroups in_sight,
            const std::function<ActionGroups()>& hidden);

 private:
  bool to_menus_ = false;  // the keyboard goes there
  Palette palette_;
  KeySheet key_sheet_;
};

}  // namespace reprise::debugger
