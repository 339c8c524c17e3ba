// Lines of code with their numbers, those in sight only: words and comments coloured, matches of a
// search marked.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

enum class CodeLanguage : std::uint8_t { glsl, spirv };

struct CodeLook {
  CodeLanguage language = CodeLanguage::glsl;
  std::span<const std::size_t> matches{};    // lines, ascending
  std::optional<std::size_t> shown_match{};  // the line of the one that was jumped to
  std::optional<std::size_t> scroll_to{};    // a line
};

/// Fills a box of the window. Paths: <id>/line/<line from 1>, state "match" or "match shown".
void draw_code(Ui& ui, std::string_view id, const Box& box, std::span<const std::string> lines,
               const CodeLook& look);

}  // namespace reprise::debugger
