#include "debugger/views/action.h"

#include <algorithm>
#include <cstddef>

namespace reprise::debugger {

std::string_view name_of(Menu menu) {
  constexpr std::array<std::string_view, kMenus.size()> kNames{"File", "View", "Go", "Help"};
  return kNames[static_cast<std::size_t>(menu)];
}

void take_keys(Ui& ui, const Actions& actions) {
  const auto take = [&](const std::string& key) { return !key.empty() && ui.keys().take(key); };
  for (const Action& action : actions) {
    if (action.enabled && (take(action.key) || std::ranges::any_of(action.other_keys, take))) {
      action.run();
    }
  }
}

std::string id_of(const Action& action) {
  std::string id = action.title;
  std::ranges::transform(id, id.begin(), [](char c) {
    return c == ' ' || c == '/' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return id;
}

void draw_context_menu(Ui& ui, bool open, const std::function<Actions()>& actions) {
  if (!ui.begin_context_menu("context", open)) {
    return;
  }
  for (const Action& action : actions()) {
    if (ui.menu_entry(id_of(action), action.title, action.key, action.enabled)) {
      action.run();
    }
  }
  ui.end_menu();
}

Actions row_actions(std::string_view what, std::optional<std::size_t> row, std::size_t count,
                    const std::function<void(std::size_t)>& go) {
  struct Step {
    const char* title;
    const char* key;
    std::ptrdiff_t rows;
  };
  constexpr std::ptrdiff_t kPage = 20;
  constexpr Step kSteps[] = {{"Previous ", "Up", -1},
                             {"Next ", "Down", 1},
                             {"A page of rows up from the ", "PageUp", -kPage},
                             {"A page of rows down from the ", "PageDown", kPage}};
  Actions actions;
  for (const Step& step : kSteps) {
    const auto last = static_cast<std::ptrdiff_t>(count) - 1;
    const std::ptrdiff_t from =
        row ? static_cast<std::ptrdiff_t>(*row) + step.rows : (step.rows > 0 ? 0 : last);
    const auto to = static_cast<std::size_t>(
        std::clamp(from, std::ptrdiff_t{0}, std::max(last, std::ptrdiff_t{0})));
    actions.push_back({step.title + std::string(what), step.key, [go, to] { go(to); }, count > 0});
  }
  return actions;
}

}  // namespace reprise::debugger
