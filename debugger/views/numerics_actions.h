// Going to where numbers go wrong, from any panel.
#pragma once
#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// Selects the first node that differs from the reference though what it reads does not, or says in
/// the status bar why there is none. What it needs has been read.
void select_first_diverging(Workspace& workspace);

/// Selects the next node of which a watched result held a NaN or infinity, or says that there is
/// none.
void select_next_not_finite(Workspace& workspace);

/// F9 and N, which read what they need first.
class NumericsKeys {
 public:
  /// Once a frame.
  void take(Ui& ui, Workspace& workspace);

 private:
  using Action = void (*)(Workspace&);
  Action waiting_ = nullptr;  // for what is being read
};

}  // namespace reprise::debugger
