#include "debugger/views/palette.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace reprise::debugger {
namespace {

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

bool contains_all(std::string_view text, const std::string& words) {
  std::istringstream in(words);
  std::string word;
  while (in >> word) {
    if (!contains(text, word)) {
      return false;
    }
  }
  return true;
}

/// Brings a row of a list that is seen there into sight.
void scroll_to(const Box& row, const Box& seen) {
  if (row.min.y < seen.min.y) {
    ImGui::SetScrollY(ImGui::GetScrollY() - (seen.min.y - row.min.y));
  } else if (row.max.y > seen.max.y) {
    ImGui::SetScrollY(ImGui::GetScrollY() + (row.max.y - seen.max.y));
  }
}

}  // namespace

void Palette::open() {
  open_ = fresh_ = true;
  text_.clear();
  chosen_ = 0;
}

std::vector<Palette::Entry> Palette::found(const std::vector<ActionGroup>& groups) const {
  std::vector<Entry> entries;
  for (const ActionGroup& group : groups) {
    for (const Action& action : group.actions) {
      std::string title = group.title.empty() ? action.title : group.title + ": " + action.title;
      if (action.enabled && contains_all(title, text_)) {
        entries.push_back({std::move(title), &action});
      }
    }
  }
  return entries;
}

const Action* Palette::draw_list(Ui& ui, const std::vector<Entry>& entries) const {
  const Ui::Region region = ui.region("list", {});
  const float top = ImGui::GetCursorScreenPos().y + ImGui::GetScrollY();
  const Box seen{{0, top}, {0, top + ImGui::GetWindowHeight()}};
  if (entries.empty()) {
    ui.text("none", "Nothing has these words", {.colour = Colour::dim});
  }
  const Action* clicked = nullptr;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Ui::Scope scope = ui.scope("row");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box box{at, {ui.rest().max.x, at.y + ui.row_height()}};
    ImGui::Dummy({box.width(), box.height()});
    const Hit hit =
        ui.hit(std::to_string(i), box, entries[i].title, i == chosen_ ? "selected" : "");
    if (i == chosen_ || hit.hovered) {
      ui.fill(box, ui.colour(i == chosen_ ? Colour::selection : Colour::raised), ui.px(3));
    }
    if (i == chosen_) {
      scroll_to(box, seen);
    }
    const float key = ui.text_size(entries[i].action->key).x;
    const float pad = ui.px(8);
    ui.text_in({}, {{box.min.x + pad, box.min.y}, {box.max.x - 2 * pad - key, box.max.y}},
               entries[i].title);
    ui.text_in({}, {{box.max.x - pad - key, box.min.y}, {box.max.x - pad, box.max.y}},
               entries[i].action->key, {.colour = Colour::dim, .align = Align::right});
    clicked = hit.clicked ? entries[i].action : clicked;
  }
  return clicked;
}

void Palette::draw(Ui& ui, const std::vector<ActionGroup>& groups) {
  if (!ui.begin_dialog("palette", open_, {ui.px(620), ui.px(420)})) {
    return;
  }
  if (std::exchange(fresh_, false)) {
    ui.focus("palette/text");
  }
  if (ui.input("text", "What to do", text_)) {
    chosen_ = 0;
  }
  ImGui::Dummy({0, ui.px(6)});
  const std::vector<Entry> entries = found(groups);
  const std::size_t last = entries.empty() ? 0 : entries.size() - 1;
  chosen_ = std::min(chosen_ + (ui.keys().take_from_text("Down") ? 1U : 0U), last);
  chosen_ -= chosen_ > 0 && ui.keys().take_from_text("Up") ? 1U : 0U;
  const Action* chosen = draw_list(ui, entries);
  if (!entries.empty() && ui.keys().take_from_text("Enter")) {
    chosen = entries[chosen_].action;
  }
  open_ = open_ && chosen == nullptr;
  ui.end_dialog(open_);
  if (chosen != nullptr) {
    chosen->run();
  }
}

}  // namespace reprise::debugger
