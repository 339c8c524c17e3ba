// Asks for the name of a new layout.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "debugger/model/layout.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

class LayoutDialog {
 public:
  void open();
  /// In every frame. The name, once, when it is one and none of `layouts` has it.
  std::optional<std::string> draw(Ui& ui, std::span<const Layout> layouts);

 private:
  bool open_ = false, fresh_ = false;
  std::string name_;
};

}  // namespace reprise::debugger
