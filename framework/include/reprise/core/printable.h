// Text of a file on a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace reprise {

/// How many bytes the character at the front has; 0 if it is no character to print: invalid UTF-8,
/// or one that controls the terminal or the direction of writing.
std::size_t printable_bytes(std::string_view text);

/// Valid UTF-8 without control characters: every other byte becomes '?'.
std::string printable(std::string_view text);
/// The same, but lines and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace reprise
