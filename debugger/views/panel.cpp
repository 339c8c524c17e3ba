#include "debugger/views/panel.h"

namespace reprise::debugger {
namespace {

/// Above the panel, what of the file it does not show as it is: "<panel id>/file_note".
void draw_file_note(Ui& ui, const std::vector<std::string>& notes) {
  const Box before = ui.rest();
  const std::string more =
      notes.size() == 1 ? "" : " Point here for (" + std::to_string(notes.size() - 1) + ") more.";
  const std::string text = notes.front() + more;
  const bool low = before.height() < 8 * ui.row_height();
  ImGui::SetCursorScreenPos({before.min.x + ui.px(8), before.min.y + (low ? 0 : ui.px(3))});
  if (low) {  // one line of a strip
    ui.text("file_note", text, {.colour = Colour::warning});
  } else {
    ui.paragraph("file_note", text, Colour::warning);
  }
  const Box box{before.min, {before.max.x, ui.rest().min.y}};
  if (notes.size() > 1 && box.contains(ImGui::GetMousePos())) {
    std::string all;
    for (const std::string& note : notes) {
      all += (all.empty() ? "" : "\n") + note;
    }
    ui.tooltip(all);
  }
}

}  // namespace

std::size_t current_rows(const Workspace& workspace, const std::shared_ptr<const Capture>& listed,
                         std::size_t count) {
  return listed == workspace.document.capture() ? count : 0;
}

void draw_panel(Ui& ui, Workspace& workspace, Panel& panel, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  const Ui::Region region = ui.region(panel.id(), {box.width(), box.height()}, false);
  ui.stop_at_panel(box);
  if (workspace.document.capture()) {
    if (const auto notes = workspace.file_notes.of(panel.id()); !notes.empty()) {
      draw_file_note(ui, notes);
    }
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
