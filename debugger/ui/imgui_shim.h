// What differs between the versions of ImGui from 1.86 to 1.91 in what hosts tell it of keys.
#pragma once
#include <imgui.h>

#include "debugger/ui/keys.h"

namespace reprise::debugger::imgui {

/// Of a new context.
void map_keys();
void send_key(Key key, bool down);
void send_modifiers(bool ctrl, bool shift, bool alt);

}  // namespace reprise::debugger::imgui
