// Keys as GLFW names them.
#pragma once
#include "debugger/ui/keys.h"

namespace reprise::debugger {

/// Of the layout in use, where the key prints a character; Key::none for others, and for modifiers.
Key key_of_glfw(int key, int scancode);

}  // namespace reprise::debugger
