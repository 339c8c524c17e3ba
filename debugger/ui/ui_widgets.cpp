// The widgets of Ui.
#include <algorithm>
#include <cmath>
#include <functional>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <utility>

#include "debugger/ui/clean_text.h"
#include "debugger/ui/icons.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {
namespace {

constexpr float kPadding = 8;  // left and right of labels, at 1x
constexpr float kRounding = 3;
constexpr ImGuiWindowFlags kPopupFlags = ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav;

/// Those of icons.h are one character of the private use area.
bool is_icon(std::string_view text) { return text.size() == 3 && text[0] == '\xEF'; }

}  // namespace

bool Ui::draw_button(std::string_view id, std::string_view label, std::string_view state,
                     float width, bool enabled, bool on) {
  const Box box = place({width, row_height()});
  const Hit hit = control(id, box, label, state);
  const bool lit = enabled && hit.hovered;
  if (on || (lit && hit.held)) {
    fill(box, colour(Colour::selection), px(kRounding));
  } else if (lit) {
    fill(box, colour(Colour::dim, 0.5F), px(kRounding));
  } else {
    fill(box, colour(Colour::raised), px(kRounding));
  }
  text_in({}, box, label,
          {.colour = enabled ? Colour::text : Colour::dim, .align = Align::centre, .elide = false});
  return enabled && hit.clicked;
}

bool Ui::button(std::string_view id, std::string_view label, bool enabled) {
  const float width = std::ceil(text_size(label).x) + 2 * px(kPadding);
  return draw_button(id, label, enabled ? "" : "disabled", width, enabled, false);
}

bool Ui::toggle(std::string_view id, std::string_view label, bool& on) {
  const float width = std::ceil(text_size(label).x) + 2 * px(kPadding);
  const bool clicked = draw_button(id, label, on ? "on" : "off", width, true, on);
  on = on != clicked;
  return clicked;
}

bool Ui::icon_button(std::string_view id, const char* icon, std::string_view tooltip,
                     bool enabled) {
  const Box box = place({row_height(), row_height()});
  const Hit hit = control(id, box, tooltip, enabled ? "" : "disabled");
  if (hit.hovered) {
    this->tooltip(tooltip);
    if (enabled) {
      fill(box, colour(hit.held ? Colour::selection : Colour::raised), px(kRounding));
    }
  }
  text_in({}, box, icon,
          {.colour = enabled ? Colour::text : Colour::separator, .align = Align::centre});
  return enabled && hit.clicked;
}

bool Ui::edit(std::string_view id, std::string_view hint, std::string& text, ImVec2 size,
              bool several_lines) {
  const std::string path = path_of(clean_line(id));
  (void)focused_.stop(path, popups_.size());  // it has a frame of its own
  if (focus_ == path || focused_.arrived(path)) {
    focus_.clear();
    ImGui::SetKeyboardFocusHere();
  }
  const Scope own(*this, id);
  bool result = false;
  if (several_lines) {
    ImGui::PushFont(fonts_[FontKind::mono]);
    result = ImGui::InputTextMultiline(
        "##edit", &text, size,
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AllowTabInput);
    ImGui::PopFont();
  } else {
    const std::string shown_hint = clean_line(hint);
    ImGui::SetNextItemWidth(size.x);
    result = ImGui::InputTextWithHint("##edit", shown_hint.c_str(), &text);
  }
  const Box box{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  pointer_.hit(std::hash<std::string_view>()(path), box.intersection(clip()));  // covers others
  const bool active = ImGui::IsItemActive();
  if (active_ == path) {
    active_.clear();
  }
  if (active) {
    active_ = path;
    several_lines_ = several_lines;
    focused_.note(path, popups_.size());
    frame(box, colour(Colour::accent), px(kRounding));
  }
  add(path, box, several_lines ? clean_lines(text) : clean_line(text), active ? "active" : "",
      true);
  return result;
}

bool Ui::input(std::string_view id, std::string_view hint, std::string& text, float width) {
  return edit(id, hint, text, {width > 0 ? width : -FLT_MIN, 0}, false);
}

bool Ui::take_enter() { return ImGui::IsItemDeactivated() && keys().take_from_text("Enter"); }

bool Ui::text_area(std::string_view id, std::string& text, ImVec2 size) {
  const bool run = edit(id, {}, text, size, true);
  if (run) {
    focus(path_of(clean_line(id)));  // Ctrl+Enter would end the editing
  }
  return run;
}

bool Ui::combo(std::string_view id, std::span<const std::string> choices, std::size_t& chosen,
               float width) {
  return combo(
      id, choices.size(), [&](std::size_t i) { return choices[i]; }, chosen, width);
}

bool Ui::combo(std::string_view id, std::size_t choices,
               const std::function<std::string(std::size_t)>& name, std::size_t& chosen,
               float width) {
  const std::string value = chosen < choices ? name(chosen) : "";
  const Box box = place({width, row_height()});
  const Hit hit = control(id, box, value);
  fill(box, colour(hit.hovered ? Colour::raised : Colour::input), px(kRounding));
  const float arrow = box.max.x - row_height();
  text_in({}, {{box.min.x + px(kPadding), box.min.y}, {arrow, box.max.y}}, value);
  text_in({}, {{arrow, box.min.y}, box.max}, icon::kUnfold,
          {.colour = Colour::dim, .align = Align::centre});
  bool changed = false;
  if (begin_popup(id, hit.clicked, box)) {
    for (std::size_t i = 0; i < choices; ++i) {
      if (menu_entry(std::to_string(i), name(i))) {
        changed = i != chosen;
        chosen = i;
      }
    }
    end_menu();
  }
  return changed;
}

bool Ui::begin_popup(std::string_view id, bool open, const Box& below, bool submenu) {
  push_popup(id, true, {px(4), px(4)});
  popups_.back().submenu = submenu;
  if (open) {
    ImGui::OpenPopup("popup");
  }
  // Towards the middle of the window, where there is room.
  const ImVec2 whole = ImGui::GetIO().DisplaySize;
  const bool leftwards = below.min.x > whole.x / 2;
  const bool upwards = below.min.y > whole.y / 2;
  ImGui::SetNextWindowPos(
      {leftwards ? below.max.x : below.min.x, upwards ? below.min.y - px(2) : below.max.y + px(2)},
      ImGuiCond_Always, {leftwards ? 1.0F : 0.0F, upwards ? 1.0F : 0.0F});
  const float room = upwards ? below.min.y : whole.y - below.max.y;
  ImGui::SetNextWindowSizeConstraints({below.width(), 0}, {FLT_MAX, room - px(8)});
  const bool shown = ImGui::BeginPopup("popup", kPopupFlags);
  if (!shown) {
    end_popup();
    return false;
  }
  if (keys_.take("Escape")) {
    ImGui::CloseCurrentPopup();
  }
  return true;
}

float Ui::menu_width(std::string_view icon_or_label) const {
  return is_icon(icon_or_label) ? row_height()
                                : std::ceil(text_size(icon_or_label).x) + 2 * px(kPadding);
}

void Ui::open_menu(std::string_view path) {
  wanted_menu_ = path;
  if (!popups_.empty()) {
    ImGui::CloseCurrentPopup();
  }
}

bool Ui::begin_menu(std::string_view id, std::string_view icon_or_label, std::string_view tooltip) {
  const Box box = place({menu_width(icon_or_label), row_height()});
  const Hit hit = control(id, box, tooltip.empty() ? icon_or_label : tooltip);
  if (hit.hovered) {
    fill(box, colour(Colour::raised), px(kRounding));
    this->tooltip(tooltip);
  }
  text_in({}, box, icon_or_label, {.align = Align::centre});
  const std::string path = path_of(clean_line(id));
  const bool wanted = wanted_menu_ == path;
  if (wanted) {
    wanted_menu_.clear();
    focused_.note(path, popups_.size());
  }
  return begin_popup(id, hit.clicked || wanted, box);
}

bool Ui::begin_context_menu(std::string_view id, bool open) {
  if (open) {
    context_at_ = ImGui::GetMousePos();
  }
  return begin_popup(id, open, {context_at_, context_at_});
}

bool Ui::menu_entry(std::string_view id, std::string_view label, std::string_view shortcut,
                    bool enabled) {
  const float shortcut_width = std::ceil(text_size(shortcut).x);
  const float gap = shortcut.empty() ? 0 : px(24);
  const float needed = std::ceil(text_size(label).x) + gap + shortcut_width + 2 * px(kPadding);
  Box box = place({needed, row_height()});
  box.max.x = std::max(box.max.x, box.min.x + ImGui::GetContentRegionAvail().x);
  const Hit hit = control(id, box, label, enabled ? "" : "disabled");
  if (hit.hovered && enabled) {
    fill(box, colour(Colour::selection), px(kRounding));
  }
  const Box inner{{box.min.x + px(kPadding), box.min.y}, {box.max.x - px(kPadding), box.max.y}};
  text_in({}, inner, label, {.colour = enabled ? Colour::text : Colour::dim});
  const Scope own(*this, id);
  text_in(shortcut.empty() ? "" : "key", {{inner.max.x - shortcut_width, inner.min.y}, inner.max},
          shortcut, {.colour = Colour::dim, .align = Align::right});
  if (!enabled || !hit.clicked) {
    return false;
  }
  ImGui::CloseCurrentPopup();
  chosen_ = true;
  return true;
}

bool Ui::begin_submenu(std::string_view id, std::string_view label) {
  const float needed = std::ceil(text_size(label).x) + row_height() + 2 * px(kPadding);
  Box box = place({needed, row_height()});
  box.max.x = std::max(box.max.x, box.min.x + ImGui::GetContentRegionAvail().x);
  const Hit hit = control(id, box, label, "menu");
  if (hit.hovered) {
    fill(box, colour(Colour::selection), px(kRounding));
  }
  text_in({}, {{box.min.x + px(kPadding), box.min.y}, {box.max.x - row_height(), box.max.y}},
          label);
  text_in({}, {{box.max.x - row_height(), box.min.y}, box.max}, icon::kFold,
          {.colour = Colour::dim, .align = Align::centre});
  const ImVec2 beside{box.max.x, box.min.y};
  const ImVec2 moved = ImGui::GetIO().MouseDelta;  // a mouse that rests leaves it to the keyboard
  const bool pointed = hit.hovered && (moved.x != 0 || moved.y != 0);
  const bool entered = focused_.drawn() == path_of(clean_line(id)) && keys_.take("Right");
  const bool open = begin_popup(id, pointed || entered || hit.clicked, {beside, beside}, true);
  if (open && keys_.take("Left")) {
    ImGui::CloseCurrentPopup();
  }
  return open;
}

void Ui::end_menu() {
  ImGui::EndPopup();
  const bool submenu = popups_.back().submenu;
  end_popup();
  if (submenu && chosen_) {
    ImGui::CloseCurrentPopup();
  }
  chosen_ = submenu && chosen_;
}

bool Ui::begin_dialog(std::string_view id, bool& open, ImVec2 size) {
  if (!open) {
    return false;
  }
  push_popup(id, false, {px(10), px(10)});
  if (dialog_ != path_) {
    dialog_ = path_;
    ImGui::OpenPopup("popup");
  }
  const ImVec2 whole = ImGui::GetIO().DisplaySize;
  size = {std::min(size.x, whole.x - px(20)), std::min(size.y, whole.y - px(60))};
  ImGui::SetNextWindowPos({std::floor((whole.x - size.x) / 2), px(50)});
  ImGui::SetNextWindowSizeConstraints(size, size);
  if (!ImGui::BeginPopup("popup", kPopupFlags)) {
    open = false;
    dialog_.clear();
    end_popup();
    return false;
  }
  open = !keys_.take_from_text("Escape");
  return true;
}

void Ui::end_dialog(bool open) {
  if (!open) {
    dialog_.clear();
    ImGui::CloseCurrentPopup();
  }
  end_menu();
}

void Ui::push_popup(std::string_view id, bool scrolls, ImVec2 padding) {
  popups_.push_back({std::make_unique<Scope>(*this, id), std::exchange(scrolls_, scrolls)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
}

void Ui::end_popup() {
  ImGui::PopStyleVar(2);
  scrolls_ = popups_.back().scrolled_outside;
  popups_.pop_back();
}

}  // namespace reprise::debugger
