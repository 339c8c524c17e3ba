#include "debugger/app/ui_script.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

enum class Argument : std::uint8_t { none, path, path_text, path_numbers, key };

struct Verb {
  std::string_view name;
  ScriptVerb verb;
  Argument argument;
  std::size_t numbers;
  bool action;  // of a person
};

constexpr Verb kVerbs[] = {
    {"click", ScriptVerb::click, Argument::path, 0, true},
    {"double", ScriptVerb::double_click, Argument::path, 0, true},
    {"right", ScriptVerb::right_click, Argument::path, 0, true},
    {"hover", ScriptVerb::hover, Argument::path, 0, true},
    {"drag", ScriptVerb::drag, Argument::path_numbers, 4, true},
    {"wheel", ScriptVerb::wheel, Argument::path_numbers, 1, true},
    {"key", ScriptVerb::key, Argument::key, 0, true},
    {"type", ScriptVerb::type, Argument::path_text, 0, true},
    {"wait", ScriptVerb::wait, Argument::none, 0, false},
    {"expect", ScriptVerb::expect, Argument::path_text, 0, false},
    {"expect_state", ScriptVerb::expect_state, Argument::path_text, 0, false},
    {"absent", ScriptVerb::absent, Argument::path, 0, false},
    {"fits", ScriptVerb::fits, Argument::none, 0, false},
    {"shot", ScriptVerb::shot, Argument::path, 0, false},
};

[[noreturn]] void refuse(const ScriptStep& step, const std::string& why) {
  throw_invalid_argument("Line ", step.line, " of the script (", step.source, ") ", why);
}

std::string rest_of(std::istream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

ScriptStep parse_step(std::size_t number, const std::string& line) {
  ScriptStep step;
  step.line = number;
  step.source = line;
  std::istringstream words(line);
  std::string name;
  words >> name;
  const auto* const verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == std::end(kVerbs)) {
    std::string known;
    for (const Verb& each : kVerbs) {
      known.append(known.empty() ? "" : ", ").append(each.name);
    }
    refuse(step, "begins with no step; those are " + known + ".");
  }
  step.verb = verb->verb;
  if (verb->argument == Argument::key) {
    const std::string key = rest_of(words);
    const std::optional<KeyPress> press = key_press_of(key);
    if (!press) {
      refuse(step, "names no key (" + key + "); names are like Ctrl+Shift+P, F9, Left and [.");
    }
    step.key = *press;
    return step;
  }
  if (verb->argument != Argument::none && !(words >> std::quoted(step.path))) {
    refuse(step, "lacks a path.");
  }
  for (std::size_t i = 0; i < verb->numbers; ++i) {
    if (!(words >> step.numbers[i])) {
      refuse(step, "has " + std::to_string(i) + " numbers after the path, not " +
                       std::to_string(verb->numbers) + ".");
    }
  }
  step.text = rest_of(words);
  if (verb->argument != Argument::path_text && !step.text.empty()) {
    refuse(step, "has more than its step takes (" + step.text + ").");
  }
  const bool looks_for_text =
      step.verb == ScriptVerb::expect || step.verb == ScriptVerb::expect_state;
  if (looks_for_text && step.text.empty()) {
    refuse(step, "says nothing to expect.");
  }
  return step;
}

}  // namespace

UiScript parse_script(std::string_view text) {
  UiScript script;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line[first] != '#') {
      if (line.size() > kMaxScriptLine) {
        throw_invalid_argument("Line ", number, " of the script (", line.substr(first, 40),
                               "...) has (", line.size(), ") bytes; a line has at most ",
                               kMaxScriptLine, ".");
      }
      const std::size_t last = line.find_last_not_of(" \t\r");
      script.push_back(parse_step(number, line.substr(first, last - first + 1)));
    }
  }
  return script;
}

std::size_t count_actions(const UiScript& script) {
  return static_cast<std::size_t>(std::ranges::count_if(script, [](const ScriptStep& step) {
    return std::ranges::find(kVerbs, step.verb, &Verb::verb)->action;
  }));
}

}  // namespace reprise::debugger
