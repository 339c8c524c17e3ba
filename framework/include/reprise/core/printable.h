// Makes text of a file safe to print on a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace reprise {

/// Returns how many bytes the character at the front has. 0 if it cannot be printed: invalid UTF-8,
/// or a character that controls the terminal or the direction of writing.
std::size_t printable_bytes(std::string_view text);

/// Returns valid UTF-8 without control characters: every other byte becomes '?'.
std::string printable(std::string_view text);
/// Returns the same, but keeps lines and tabs.
std::string printable_lines(std::string_view text);

}  // namespace reprise
