// The menus at the upper left: every action there is, with its key.
#pragma once
#include "debugger/views/action.h"

namespace reprise::debugger {

float menu_bar_width(const Ui& ui);

/// Actions of the window stand in their menu, those of a panel in a menu of its own therein.
/// `groups` is asked while a menu is open. Paths: "menus/file", "menus/file/open_a_file",
/// "menus/view/Graph/frame_the_selection".
void draw_menu_bar(Ui& ui, const Box& box, const std::function<std::vector<ActionGroup>()>& groups);

}  // namespace reprise::debugger
