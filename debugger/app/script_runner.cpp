#include "debugger/app/script_runner.h"

#include <algorithm>
#include <cmath>
#include <imgui_internal.h>
#include <numeric>
#include <set>
#include <utility>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

/// What moves on its own, as a replay that plays, never looks alike.
constexpr int kMaxFrames = 120;

[[noreturn]] void fail(const ScriptStep& step, const std::string& why) {
  throw_invalid_argument("Line ", step.line, " of the script (", step.source, "): ", why);
}

/// Returns how many characters differ: insertions, deletions, replacements. Compares the first
/// ones only: a path may hold a name of any length from the database.
std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kMaxCompared = 128;
  a = a.substr(0, kMaxCompared);
  b = b.substr(0, kMaxCompared);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool has_state(const Widget& widget, const std::string& word) {
  return (" " + widget.state + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

ScriptRunner::ScriptRunner(HeadlessHost& host, const View& view) : host_(host), view_(view) {}

void ScriptRunner::frame() {
  view_.poll();
  host_.set_theme(view_.theme());
  host_.frame(view_.draw);
  view_.drawn(host_.pictures());
}

void ScriptRunner::settle() {
  frame();
  for (int i = 0; i < kMaxFrames; ++i) {
    view_.settle();
    const WidgetRegistry before = host_.registry();
    frame();
    if (!host_.pending() && host_.registry() == before) {
      return;
    }
  }
}

void ScriptRunner::run(const UiScript& script) {
  settle();
  for (const ScriptStep& step : script) {
    run(step);
  }
}

void ScriptRunner::run(const ScriptStep& step) {
  switch (step.verb) {
    case ScriptVerb::click:
      click(target(step), ImGuiMouseButton_Left);
      break;
    case ScriptVerb::double_click: {
      const ImVec2 at = target(step);
      click(at, ImGuiMouseButton_Left);
      click(at, ImGuiMouseButton_Left);
      break;
    }
    case ScriptVerb::right_click:
      click(target(step), ImGuiMouseButton_Right);
      break;
    case ScriptVerb::hover:
      host_.mouse().move(target(step));
      break;
    case ScriptVerb::drag:
      drag(step);
      break;
    case ScriptVerb::wheel:
      host_.mouse().move(target(step));
      frame();
      host_.mouse().turn_wheel({0, step.numbers[0]});
      break;
    case ScriptVerb::key:
      tap(step.key);
      break;
    case ScriptVerb::type:
      click(target(step), ImGuiMouseButton_Left);
      tap({.key = static_cast<Key>('A'), .ctrl = true});
      tap({.key = Key::del});
      type(step.text);
      break;
    case ScriptVerb::wait:
      break;
    case ScriptVerb::expect:
      return expect_text(step);
    case ScriptVerb::expect_state:
      return expect_state(step);
    case ScriptVerb::absent:
      if (host_.registry().find(step.path) != nullptr) {
        fail(step, "it is there, with the text (" + host_.registry().find(step.path)->text + ").");
      }
      return;
    case ScriptVerb::fits:
      return expect_fit(step);
    case ScriptVerb::shot:
      return write_png(host_.picture(), step.path);
  }
  settle();
}

// ---- finding

void ScriptRunner::fail_absent(const ScriptStep& step) const {
  std::set<std::pair<std::size_t, std::string>> nearest;
  for (const auto& [path, widget] : host_.registry().widgets()) {
    nearest.emplace(distance(step.path, path), path);
  }
  for (const auto& [path, value] : host_.registry().values()) {
    nearest.emplace(distance(step.path, path), path);
  }
  std::string names;
  for (const auto& [far, path] : nearest) {
    names += (names.empty() ? "" : ", ") + path;
    if (std::ranges::count(names, ',') == 4) {
      break;
    }
  }
  fail(step, "nothing was drawn as (" + step.path + "); the nearest names are (" + names + ").");
}

const Widget& ScriptRunner::widget(const ScriptStep& step) const {
  const Widget* found = host_.registry().find(step.path);
  if (found == nullptr) {
    fail_absent(step);
  }
  return *found;
}

ImVec2 ScriptRunner::point_in(const Widget& widget, float x, float y) {
  const Rect& seen = widget.visible;
  return {std::floor(seen.min_x + (seen.max_x - seen.min_x) * x),
          std::floor(seen.min_y + (seen.max_y - seen.min_y) * y)};
}

ImVec2 ScriptRunner::target(const ScriptStep& step) const {
  const Widget& found = widget(step);
  const Rect& seen = found.visible;
  if (seen.max_x <= seen.min_x || seen.max_y <= seen.min_y) {
    fail(step, "it is scrolled or panned out of sight.");
  }
  if (has_state(found, "disabled")) {
    fail(step, "it is disabled.");
  }
  return point_in(found, 0.5F, 0.5F);
}

// ---- acting

void ScriptRunner::click(ImVec2 at, ImGuiMouseButton button) {
  host_.mouse().move(at);
  frame();
  host_.mouse().press(button, true);
  frame();
  host_.mouse().press(button, false);
  frame();
}

void ScriptRunner::drag(const ScriptStep& step) {
  target(step);
  const Widget from = widget(step);  // a copy: it may move
  const auto& [x0, y0, x1, y1] = step.numbers;
  constexpr int kMoves = 4;
  host_.mouse().move(point_in(from, x0, y0));
  frame();
  host_.mouse().press(ImGuiMouseButton_Left, true);
  for (int i = 1; i <= kMoves; ++i) {
    frame();
    const float share = static_cast<float>(i) / kMoves;
    host_.mouse().move(point_in(from, std::lerp(x0, x1, share), std::lerp(y0, y1, share)));
  }
  frame();
  host_.mouse().press(ImGuiMouseButton_Left, false);
  frame();
}

void ScriptRunner::tap(const KeyPress& key) {
  host_.keys().push(key, true);
  host_.keys().push(key, false);
  host_.keys().push({}, false);  // the modifiers
  do {
    frame();
  } while (host_.keys().pending());
}

void ScriptRunner::type(std::string_view text) {
  while (!text.empty()) {
    unsigned int character = 0;
    const int bytes = ImTextCharFromUtf8(&character, text.data(), text.data() + text.size());
    host_.keys().push_character(character);
    text.remove_prefix(static_cast<std::size_t>(std::max(bytes, 1)));
  }
}

// ---- expecting

void ScriptRunner::expect_text(const ScriptStep& step) const {
  const Widget* found = host_.registry().find(step.path);
  const std::string value = host_.registry().value(step.path);
  if (found == nullptr && value.empty()) {
    fail_absent(step);
  }
  const std::string text = found == nullptr ? std::string() : found->text;
  if (text.find(step.text) == std::string::npos && value.find(step.text) == std::string::npos) {
    fail(step, "it says (" + text + value + ").");
  }
}

void ScriptRunner::expect_state(const ScriptStep& step) const {
  if (!has_state(widget(step), step.text)) {
    fail(step, "its state is (" + widget(step).state + ").");
  }
}

void ScriptRunner::expect_fit(const ScriptStep& step) const {
  const std::vector<Overflow>& overflows = host_.registry().overflows();
  if (overflows.empty()) {
    return;
  }
  constexpr std::size_t kMaxNamed = 8;
  std::string named;
  for (std::size_t i = 0; i < std::min(overflows.size(), kMaxNamed); ++i) {
    const Overflow& overflow = overflows[i];
    named += (i == 0 ? "" : ", ") + overflow.path + " (" + overflow.text +
             "): " + std::to_string(std::lround(overflow.needed)) + " pixels in " +
             std::to_string(std::lround(overflow.available));
  }
  fail(step, std::to_string(overflows.size()) + " texts or widgets do not: " + named + ".");
}

}  // namespace reprise::debugger
