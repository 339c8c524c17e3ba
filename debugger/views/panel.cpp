#include "debugger/views/panel.h"

namespace reprise::debugger {

void draw_panel(Ui& ui, Workspace& workspace, Panel& panel, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const Ui::Region region = ui.region(panel.id(), {box.width(), box.height()}, false);
  panel.draw(ui, workspace);
}

void draw_empty_state(Ui& ui, std::string_view what, std::string_view call) {
  const Box box = ui.rest();
  const float middle = (box.min.y + box.max.y) / 2;
  const float row = ui.row_height();
  ui.text_in("empty/what", {{box.min.x, middle - row}, {box.max.x, middle}}, what,
             {.align = Align::centre});
  ui.text_in("empty/call", {{box.min.x, middle}, {box.max.x, middle + row}}, call,
             {.font = FontKind::mono, .colour = Colour::dim, .align = Align::centre});
}

}  // namespace reprise::debugger
