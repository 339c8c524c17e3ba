// The command palette: every action there is, found by words of its title.
#pragma once
#include <string>

#include "debugger/views/action.h"

namespace reprise::debugger {

class Palette {
 public:
  void open();
  bool is_open() const { return open_; }
  /// Over the window while it is open; runs what is chosen, after which it is closed. Paths:
  /// "palette/text", "palette/list/row/<n>".
  void draw(Ui& ui, const std::vector<ActionGroup>& groups);

 private:
  struct Entry {
    std::string title;  // "Graph: Frame the selection"
    const Action* action;
  };
  std::vector<Entry> found(const std::vector<ActionGroup>& groups) const;
  /// The entry that is clicked; none if none is.
  const Action* draw_list(Ui& ui, const std::vector<Entry>& entries) const;

  bool open_ = false, fresh_ = false;
  std::string text_;
  std::size_t chosen_ = 0;
};

}  // namespace reprise::debugger
