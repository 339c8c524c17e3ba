#include "debugger/ui/keys.h"

#include <algorithm>
#include <imgui.h>

#include "debugger/ui/imgui_shim.h"

namespace reprise::debugger {
namespace {

struct Named {
  Key key;
  std::string_view name;
};

constexpr Named kNames[] = {
    {Key::escape, "Escape"},
    {Key::enter, "Enter"},
    {Key::tab, "Tab"},
    {Key::backspace, "Backspace"},
    {Key::insert, "Insert"},
    {Key::del, "Delete"},
    {Key::right, "Right"},
    {Key::left, "Left"},
    {Key::down, "Down"},
    {Key::up, "Up"},
    {Key::page_up, "PageUp"},
    {Key::page_down, "PageDown"},
    {Key::home, "Home"},
    {Key::end, "End"},
    {Key::f1, "F1"},
    {Key::f2, "F2"},
    {Key::f3, "F3"},
    {Key::f4, "F4"},
    {Key::f5, "F5"},
    {Key::f6, "F6"},
    {Key::f7, "F7"},
    {Key::f8, "F8"},
    {Key::f9, "F9"},
    {Key::f10, "F10"},
    {Key::f11, "F11"},
    {Key::f12, "F12"},
    {static_cast<Key>(' '), "Space"},
};

struct Modifier {
  std::string_view prefix;
  bool KeyPress::*member;
};

constexpr Modifier kModifiers[] = {
    {"Ctrl+", &KeyPress::ctrl}, {"Shift+", &KeyPress::shift}, {"Alt+", &KeyPress::alt}};

bool is_named(Key key) { return key >= Key::escape; }

/// Held down, it goes on.
bool moves(Key key) { return key >= Key::right && key <= Key::page_down; }

/// With Ctrl it edits text.
bool edits_with_ctrl(Key key) {
  constexpr std::string_view kLetters = "ACVXYZ";
  return is_named(key) ? key != Key::enter && key < Key::f1
                       : kLetters.find(static_cast<char>(key)) != std::string_view::npos;
}

/// A text input that has the keyboard wants it.
bool is_for_text(const KeyPress& press) {
  const bool function_key = press.key >= Key::f1 || press.key == Key::escape;
  if (function_key || press.alt) {
    return false;
  }
  return !press.ctrl || edits_with_ctrl(press.key);
}

bool same_modifiers(const KeyPress& a, const KeyPress& b) {
  return a.ctrl == b.ctrl && a.shift == b.shift && a.alt == b.alt;
}

}  // namespace

std::optional<KeyPress> key_press_of(std::string_view name) {
  KeyPress press;
  for (bool found = true; found;) {
    found = false;
    for (const Modifier& modifier : kModifiers) {
      if (name.starts_with(modifier.prefix) && name.size() > modifier.prefix.size()) {
        press.*modifier.member = found = true;
        name.remove_prefix(modifier.prefix.size());
      }
    }
  }
  const auto* const named = std::ranges::find(kNames, name, &Named::name);
  if (named != std::end(kNames)) {
    press.key = named->key;
    return press;
  }
  const bool printable = name.size() == 1 && name[0] > ' ' && name[0] <= '~';
  if (!printable || (name[0] >= 'a' && name[0] <= 'z')) {
    return std::nullopt;
  }
  press.key = static_cast<Key>(name[0]);
  return press;
}

std::string name_of(const KeyPress& press) {
  std::string name;
  for (const Modifier& modifier : kModifiers) {
    name += press.*modifier.member ? modifier.prefix : "";
  }
  const auto* const named = std::ranges::find(kNames, press.key, &Named::key);
  return named != std::end(kNames) ? name.append(named->name) : name + static_cast<char>(press.key);
}

void KeyQueue::push(const KeyPress& press, bool down, bool repeated) {
  events_.push_back({.press = press, .down = down, .repeated = repeated});
}

void KeyQueue::push_character(std::uint32_t character) {
  events_.push_back({.press = {}, .down = true, .repeated = false, .character = character});
}

/// ImGui sees the state of keys once per frame, and typed characters before keys that edit.
bool KeyQueue::fits(const Event& event, const std::vector<Event>& before) {
  return std::ranges::none_of(before, [&](const Event& earlier) {
    if (event.character != 0) {
      return earlier.character == 0 && is_named(earlier.press.key);
    }
    return earlier.character == 0 &&
           (earlier.press.key == event.press.key || !same_modifiers(earlier.press, event.press));
  });
}

void KeyQueue::begin_frame() {
  pressed_.clear();
  if (held_frames_ > 0) {
    --held_frames_;
    return;
  }
  std::vector<Event> applied;
  while (!events_.empty() && fits(events_.front(), applied)) {
    const Event& event = applied.emplace_back(events_.front());
    events_.pop_front();
    if (event.character != 0) {
      ImGui::GetIO().AddInputCharacter(event.character);
      continue;
    }
    imgui::send_modifiers(event.press.ctrl, event.press.shift, event.press.alt);
    if (event.press.key == Key::none) {
      continue;
    }
    imgui::send_key(event.press.key, event.down);
    if (event.down && (!event.repeated || moves(event.press.key))) {
      pressed_.push_back(event.press);
    }
  }
}

bool KeyQueue::take(const KeyPress& press) {
  const bool for_text = ImGui::GetIO().WantTextInput && is_for_text(press);
  return !for_text && erase(press);
}

bool KeyQueue::take(std::string_view name) {
  const std::optional<KeyPress> press = key_press_of(name);
  return press && take(*press);
}

bool KeyQueue::take_from_text(std::string_view name) {
  const std::optional<KeyPress> press = key_press_of(name);
  return press && erase(*press);
}

bool KeyQueue::erase(const KeyPress& press) {
  const auto found = std::ranges::find(pressed_, press);
  if (found == pressed_.end()) {
    return false;
  }
  pressed_.erase(found);
  return true;
}

}  // namespace reprise::debugger
