#include "debugger/views/layout_dialog.h"

#include <algorithm>
#include <utility>

namespace reprise::debugger {

void LayoutDialog::open() {
  open_ = fresh_ = true;
  name_.clear();
}

std::optional<std::string> LayoutDialog::draw(Ui& ui, std::span<const Layout> layouts) {
  if (!ui.begin_dialog("layout", open_, {ui.px(420), ui.px(110)})) {
    return std::nullopt;
  }
  if (std::exchange(fresh_, false)) {
    ui.focus("layout/name");
  }
  ui.input("name", "Name of the new layout", name_);
  const bool entered = ui.take_enter();
  ImGui::Dummy({0, ui.px(6)});
  const bool taken = std::ranges::find(layouts, name_, &Layout::name) != layouts.end();
  const bool usable = is_layout_name(name_) && !taken;
  const bool pressed = ui.button("create", "Create", usable);
  if (!usable && !name_.empty()) {
    ImGui::SameLine();
    ui.text("problem", taken ? "There is a layout of that name" : "A name has 1 to 40 characters",
            {.colour = Colour::warning});
  }
  open_ = open_ && !(usable && (entered || pressed));
  ui.end_dialog(open_);
  return usable && (entered || pressed) ? std::optional(name_) : std::nullopt;
}

}  // namespace reprise::debugger
