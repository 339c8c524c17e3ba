// Going to where numbers go wrong, from any panel.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/views/action.h"

namespace reprise::debugger {

/// Selects the first node that differs from the reference though what it reads does not, or says in
/// the status bar why there is none. What it needs has been read.
void select_first_diverging(Workspace& workspace);

/// Selects the next node of which a watched result held a NaN or infinity, and the first replay in
/// which one did, or says that there is none.
void select_next_not_finite(Workspace& workspace);

/// F9 and N, which read what they need first.
class NumericsActions {
 public:
  Actions actions();
  /// Once a frame: does what was asked for when all for it is read.
  void go_on(Workspace& workspace);

 private:
  void (*waiting_)(Workspace&) = nullptr;  // for what is being read
};

}  // namespace reprise::debugger
