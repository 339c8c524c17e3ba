// The menu of a row of text, which may be about a node.
#pragma once
#include <string>

#include "debugger/model/workspace.h"
#include "debugger/ui/table.h"

namespace reprise::debugger {

class RowMenu {
 public:
  /// After the table; a right click has selected the node already, if the row is about one.
  void draw(Ui& ui, Workspace& workspace, const TableEvents& events, bool about_node);

 private:
  std::string text_;
  bool about_node_ = false;
};

}  // namespace reprise::debugger
