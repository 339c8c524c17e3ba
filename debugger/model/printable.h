// Text of a file on a terminal.
#pragma once
#include <string>
#include <string_view>

namespace reprise::debugger {

/// Valid UTF-8 without control characters: every other byte becomes '?'.
std::string printable(std::string_view text);

}  // namespace reprise::debugger
