// Text of a file, made fit to draw.
#pragma once
#include <string>
#include <string_view>

namespace reprise::debugger {

/// One line of printable UTF-8, its first 512 bytes: nobody reads more in one place, and what is
/// measured every frame has to be short.
std::string clean_line(std::string_view text);
/// Lines of printable UTF-8, the first 8 KiB.
std::string clean_lines(std::string_view text);

}  // namespace reprise::debugger
