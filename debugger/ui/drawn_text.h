// A text as it was drawn, for pictures that keep texts as such.
#pragma once
#include <imgui.h>
#include <string>

#include "debugger/ui/box.h"
#include "debugger/ui/fonts.h"

namespace reprise::debugger {

struct DrawnText {
  ImVec2 at;  // upper left of the first line
  Box clip;
  ImFont* font = nullptr;
  float size = 0;  // pixels
  ImU32 colour = 0;
  std::string text;  // lines end with '\n'; wrapped ones are broken already
};

}  // namespace reprise::debugger
