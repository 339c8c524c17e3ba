// Where panels open first. Generated from the list in debugger/panels.cmake.
#pragma once
#include <span>
#include <string_view>

namespace reprise::debugger {

struct UsualPlace {
  std::string_view panel;  // its id
  std::string_view part;   // of the window: left, middle, right, bottom
};

std::span<const UsualPlace> usual_places();

}  // namespace reprise::debugger
