// Scripts that use the debugger as a person does, one step per line:
//   click PATH | double PATH | right PATH | hover PATH
//   drag PATH X0 Y0 X1 Y1      fractions of what is seen of the widget, from its upper left
//   wheel PATH STEPS           positive is up
//   key Ctrl+F                 names as in keys.h
//   type PATH TEXT             replaces the text of an input
//   wait                       until everything that was asked for is there
//   expect PATH TEXT           its text, or the value published under the path, contains TEXT
//   expect_state PATH WORD     "selected", "disabled", ...
//   absent PATH
//   fits                       no text of the last frame is cut off
//   shot FILE                  the last frame as PNG
//   # a comment
// A path with spaces is put in double quotes. Lines have at most kMaxScriptLine bytes.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/ui/keys.h"

namespace reprise::debugger {

enum class ScriptVerb : std::uint8_t {
  click,
  double_click,
  right_click,
  hover,
  drag,
  wheel,
  key,
  type,
  wait,
  expect,
  expect_state,
  absent,
  fits,
  shot,
};

struct ScriptStep {
  ScriptVerb verb = ScriptVerb::wait;
  std::size_t line = 0;  // from 1
  std::string source;    // the line itself
  std::string path;      // of a widget, or of a file
  std::string text;
  std::array<float, 4> numbers{};  // drag: x0, y0, x1, y1; wheel: steps
  KeyPress key;
};

using UiScript = std::vector<ScriptStep>;

inline constexpr std::size_t kMaxScriptLine = 4096;

/// Throws Error(invalid_argument) that names the line.
UiScript parse_script(std::string_view text);
/// Steps that a person does: all but those that wait, look and take pictures.
std::size_t count_actions(const UiScript& script);

}  // namespace reprise::debugger
