// Something a person can ask for: by its key, from the palette and the menu bar, and named on the
// sheet of keys.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

struct Action {
  std::string title;  // "Frame the selection"
  std::string key;    // as in keys.h; may be empty
  std::function<void()> run;
  bool enabled = true;
  std::vector<std::string> other_keys{};  // that do the same
};

using Actions = std::vector<Action>;

/// Of the menu bar, from the left.
enum class Menu : std::uint8_t { file, view, go, help };
inline constexpr std::array kMenus{Menu::file, Menu::view, Menu::go, Menu::help};
std::string_view name_of(Menu menu);

/// What is done with the mouse, or with one of several keys: for the sheet of keys.
struct Gesture {
  std::string_view how;   // "Drag"
  std::string_view does;  // "Chooses a range for all panels"
};
using Gestures = std::span<const Gesture>;

struct ActionGroup {
  std::string title;  // of a panel; empty: what belongs to the window stands in the menu itself
  Actions actions;
  Menu menu = Menu::view;
  Gestures gestures{};
};

/// Runs the actions whose keys were pressed in this frame.
void take_keys(Ui& ui, const Actions& actions);

/// Part of paths: "frame_the_selection".
std::string id_of(const Action& action);

/// A menu of these at the mouse, which `open` opens: "context/copy" is the entry of "Copy". Called
/// in every frame, with nothing while it is closed.
void draw_context_menu(Ui& ui, bool open, const std::function<Actions()>& actions);

/// Up, Down, Page Up and Page Down from a row of `count` to another. "Next <what>" are their
/// titles.
Actions row_actions(std::string_view what, std::optional<std::size_t> row, std::size_t count,
                    const std::function<void(std::size_t)>& go);

/// Where `value` stands among rows; none if it does not.
template <class Rows, class Value>
std::optional<std::size_t> row_of(const Rows& rows, const Value& value) {
  const auto found = std::ranges::find(rows, value);
  return found == rows.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(found - rows.begin()));
}

}  // namespace reprise::debugger
