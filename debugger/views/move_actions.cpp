#include "debugger/views/move_actions.h"

namespace reprise::debugger {

Actions move_actions(const std::function<void(double right, double down)>& move,
                     const std::function<void(double steps)>& zoom) {
  constexpr double kShare = 0.125;
  return {{"Look further to the left", "Shift+Left", [move] { move(-kShare, 0); }},
          {"Look further to the right", "Shift+Right", [move] { move(kShare, 0); }},
          {"Look further up", "Shift+Up", [move] { move(0, -kShare); }},
          {"Look further down", "Shift+Down", [move] { move(0, kShare); }},
          {"Zoom in", "+", [zoom] { zoom(1); }, true, {"=", "Shift+=", "Shift++"}},
          {"Zoom out", "-", [zoom] { zoom(-1); }}};
}

}  // namespace reprise::debugger
