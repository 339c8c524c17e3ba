// Something a person can ask for: by its key, from the palette, and named on the sheet of keys.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

struct Action {
  std::string title;  // "Frame the selection"
  std::string key;    // as in keys.h; empty: the palette alone has it
  std::function<void()> run;
  bool enabled = true;
};

using Actions = std::vector<Action>;

/// Of the shell, whose title is empty, or of a panel.
struct ActionGroup {
  std::string title;
  Actions actions;
};

/// Runs the actions whose keys were pressed in this frame.
void take_keys(Ui& ui, const Actions& actions);

/// A menu of these at the mouse, which `open` opens: "context/copy" is the entry of "Copy". Called
/// in every frame, with nothing while it is closed.
void draw_context_menu(Ui& ui, bool open, const std::function<Actions()>& actions);

/// Up, Down, Page Up and Page Down from a row of `count` to another. "Next <what>" are their
/// titles.
Actions row_actions(std::string_view what, std::optional<std::size_t> row, std::size_t count,
                    const std::function<void(std::size_t)>& go);

}  // namespace reprise::debugger
