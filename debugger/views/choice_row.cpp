#include "debugger/views/choice_row.h"

namespace reprise::debugger {

bool draw_choices(Ui& ui, const Box& box, std::span<const Choice> choices, std::size_t& chosen,
                  float& left) {
  const std::size_t before = chosen;
  left = box.min.x;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const float width = ui.text_size(choices[c].label).x + ui.px(17);
    if (left + width > box.max.x) {
      break;
    }
    ImGui::SetCursorScreenPos({left, box.min.y});
    bool on = before == c;
    chosen = ui.toggle(choices[c].id, choices[c].label, on) ? c : chosen;
    left += width + ui.px(3);
  }
  return chosen != before;
}

}  // namespace reprise::debugger
