// A row of buttons of which one stays down.
#pragma once
#include <span>
#include <string>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

struct Choice {
  std::string id, label;
};

/// From the left of a box; those that do not fit are left out. `chosen` becomes the one that was
/// clicked: true if another one was. `left` becomes where the room behind them begins.
bool draw_choices(Ui& ui, const Box& box, std::span<const Choice> choices, std::size_t& chosen,
                  float& left);

}  // namespace reprise::debugger
