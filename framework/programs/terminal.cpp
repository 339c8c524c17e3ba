#include "framework/programs/terminal.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <unistd.h>
#include <utility>

#include "framework/core/utf8.h"
#include "reprise/core/printable.h"

namespace reprise::programs {
namespace {

/// Where a character begins that `text` has no end of, or its size.
std::size_t end_of_characters(std::string_view text) {
  constexpr std::size_t kMaxBytes = 4;  // of a character
  for (std::size_t back = 1; back < kMaxBytes && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte >= 0xC0) {
      const std::size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return bytes > back ? text.size() - back : text.size();
    }
    if (byte < 0x80) {
      break;
    }
  }
  return text.size();
}

}  // namespace

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

void print_error(const std::exception& error) {
  std::cout << std::flush;
  std::cerr << "error: " << printable_lines(error.what()) << '\n';
}

std::string printable_json(std::string_view json) {
  std::string safe;
  while (!json.empty()) {
    const std::size_t kept = json.front() == '\n' ? 1 : printable_bytes(json);
    if (kept > 0) {
      safe += json.substr(0, kept);
      json.remove_prefix(kept);
      continue;
    }
    const auto [code, bytes] = first_character(json);
    const unsigned number = code == kNoCharacter ? static_cast<unsigned char>(json.front()) : code;
    std::array<char, 16> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\u%04x", number);
    safe += escaped.data();
    json.remove_prefix(bytes);
  }
  return safe;
}

std::string PrintableStream::add(std::string_view piece) {
  held_ += piece;
  const std::size_t end = end_of_characters(held_);
  const std::string text = printable_lines(std::string_view(held_).substr(0, end));
  held_.erase(0, end);
  return text;
}

std::string PrintableStream::end() { return printable_lines(std::exchange(held_, {})); }

}  // namespace reprise::programs
