#include "debugger/ui/focus.h"

#include <algorithm>
#include <imgui.h>
#include <utility>

namespace reprise::debugger {

void Focus::begin_frame(KeyQueue& keys, bool keeps_tab) {
  const std::vector<Stop> stops = std::exchange(stops_, {});
  moved_ = false;
  std::size_t deepest = 0;
  for (const Stop& stop : stops) {
    deepest = std::max(deepest, stop.depth);
  }
  at_.resize(deepest + 1);
  const bool opened = deepest > 0 && std::ranges::find(stops, at(), &Stop::path) == stops.end();
  if (opened && visible_) {
    move(stops, false, false);
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
      ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
    visible_ = false;
  }
  const bool in_menu = deepest > 0;
  if (!keeps_tab) {
    if (keys.take_from_text("Tab") || (in_menu && keys.take("Down"))) {
      move(stops, false, false);
    } else if (keys.take_from_text("Shift+Tab") || (in_menu && keys.take("Up"))) {
      move(stops, true, false);
    }
  }
  if (keys.take("F6")) {
    move(stops, false, true);
  } else if (keys.take("Shift+F6")) {
    move(stops, true, true);
  }
  if (visible_ && !in_menu && !ImGui::GetIO().WantTextInput && keys.take("Escape")) {
    visible_ = false;
  }
}

void Focus::move(const std::vector<Stop>& stops, bool back, bool panels) {
  std::vector<const Stop*> among;  // with the one it is at
  for (const Stop& stop : stops) {
    if (stop.depth + 1 == at_.size() && (!panels || stop.panel || stop.path == at())) {
      among.push_back(&stop);
    }
  }
  if (among.empty()) {
    return;
  }
  const auto here = std::ranges::find(among, at(), [](const Stop* stop) { return stop->path; });
  const auto last = static_cast<std::ptrdiff_t>(among.size()) - 1;
  std::ptrdiff_t to = back ? last : 0;
  if (here != among.end()) {
    to = here - among.begin() + (back ? -1 : 1);
    to = to < 0 ? last : to > last ? 0 : to;
  }
  at_.back() = among[static_cast<std::size_t>(to)]->path;
  visible_ = moved_ = true;
}

bool Focus::stop(std::string_view path, std::size_t depth, bool panel) {
  stops_.push_back({std::string(path), depth, panel});
  return visible_ && depth + 1 == at_.size() && at() == path;
}

void Focus::go(std::string_view path) {
  at_.back() = path;
  visible_ = true;
}

void Focus::note(std::string_view path, std::size_t depth) {
  if (depth < at_.size()) {
    at_[depth] = path;
  }
}

}  // namespace reprise::debugger
