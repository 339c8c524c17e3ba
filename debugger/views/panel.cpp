#include "debugger/views/panel.h"

namespace reprise::debugger {

void draw_panel(Ui& ui, Workspace& workspace, Panel& panel, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const Ui::Region region = ui.region(panel.id(), {box.width(), box.height()}, false);
  if (workspace.document.capture()) {
    panel.draw(ui, workspace);
  } else {
    draw_no_capture(ui, workspace);
  }
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

void draw_no_capture(Ui& ui, const Workspace& workspace) {
  const std::string& problem = workspace.document.problem();
  if (!problem.empty()) {
    draw_empty_state(ui, problem, "reprise db info FILE says what a file holds");
  } else if (workspace.document.busy()) {
    draw_empty_state(ui, "Reading the database", "");
  } else {
    draw_empty_state(ui, "This database holds no graph: nothing was recorded in it.",
                     "GraphExecutor executor(device, {.profile = \"profile.db\"}); "
                     "auto session = executor.begin_recorded();");
  }
}

}  // namespace reprise::debugger
