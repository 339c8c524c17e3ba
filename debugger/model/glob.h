// Patterns with * and ?.
#pragma once
#include <string_view>

namespace reprise::debugger {

/// As SQLite's GLOB, but with [ as any other character: * is any text, ? one character of UTF-8.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace reprise::debugger
