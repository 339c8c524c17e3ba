#include "debugger/model/selection.h"

namespace reprise::debugger {

void SelectionHistory::go(const Selection& selection) {
  if (selection == current()) {
    return;
  }
  places_.resize(at_ + 1);
  places_.push_back(selection);
  if (places_.size() > kMost) {
    places_.erase(places_.begin());
  }
  at_ = places_.size() - 1;
  ++revision_;
}

void SelectionHistory::back() {
  at_ -= can_go_back() ? 1U : 0U;
  ++revision_;
}

void SelectionHistory::forward() {
  at_ += can_go_forward() ? 1U : 0U;
  ++revision_;
}

void SelectionHistory::clear() {
  places_.assign(1, Selection{});
  at_ = 0;
  ++revision_;
}

}  // namespace reprise::debugger
