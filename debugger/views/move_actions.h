// The keys that move a picture which the mouse drags and zooms: Shift with an arrow, + and -.
#pragma once
#include <functional>

#include "debugger/views/action.h"

namespace reprise::debugger {

/// `move` gets shares of what is seen, to the right and down; `zoom` steps of the wheel.
Actions move_actions(const std::function<void(double right, double down)>& move,
                     const std::function<void(double steps)>& zoom);

}  // namespace reprise::debugger
