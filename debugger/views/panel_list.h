// The panels of the window. Generated from the list in debugger/panels.cmake.
#pragma once
#include <memory>
#include <vector>

#include "debugger/views/panel.h"

namespace reprise::debugger {

/// In the order of menus and of the sheet of keys.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace reprise::debugger
