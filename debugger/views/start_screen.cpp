#include "debugger/views/start_screen.h"

#include <algorithm>
#include <cmath>

#include "debugger/model/printable.h"
#include "debugger/ui/rows.h"

namespace reprise::debugger {
namespace {

/// An input and the button that takes it; true if it was taken.
bool draw_entry(Ui& ui, std::string_view id, std::string_view hint, std::string& text,
                std::string_view button_id, std::string_view button) {
  const Box rest = ui.rest();
  const float width = ui.text_size(button).x + ui.px(17), gap = ui.px(6);
  ui.input(id, hint, text, std::max(rest.width() - width - gap, ui.px(40)));
  const bool entered = ui.take_enter();
  ImGui::SetCursorScreenPos({rest.max.x - width, rest.min.y});
  return (ui.button(button_id, button) || entered) && !text.empty();
}

/// A row that opens a file: its name, and its folder behind it.
bool draw_file(Ui& ui, Rows& rows, std::string_view id, const std::filesystem::path& file) {
  const Box box = rows.next();
  const std::string name = printable(file.filename().string());
  const float end = std::min(box.min.x + ui.text_size(name).x + ui.px(16), box.max.x);
  const bool clicked = link(ui, id, box, name);
  ui.text_in("", {{end, box.min.y}, box.max}, printable(file.parent_path().string()),
             {.colour = Colour::dim});
  return clicked;
}

template <class Files>
void draw_files(Ui& ui, std::string_view id, const Files& files, StartChoice& choice) {
  constexpr std::size_t kMaxShown = 12;
  const Ui::Scope scope = ui.scope(id);
  Rows rows(ui);
  for (std::size_t i = 0; i < std::min(files.size(), kMaxShown); ++i) {
    if (draw_file(ui, rows, std::to_string(i), files[i])) {
      choice.open = files[i];
    }
  }
}

void draw_heading(Ui& ui, std::string_view title) {
  Rows rows(ui);
  heading(ui, rows, title);
}

}  // namespace

void StartScreen::draw_path(Ui& ui, const StartContents& contents, StartChoice& choice) {
  if (draw_entry(ui, "path", "Path of a profiling database", path_, "open", "Open")) {
    choice.open = path_;
  }
  ImGui::Dummy({0, ui.px(4)});
  if (!contents.progress.empty()) {
    ui.text("progress", contents.progress, {.colour = Colour::dim});
  }
  if (!contents.problem.empty()) {
    ui.paragraph("problem", contents.problem, Colour::error);
  }
}

void StartScreen::draw_folder(Ui& ui, const StartContents& contents, StartChoice& choice) {
  draw_heading(ui, "Watch a folder");
  if (draw_entry(ui, "folder", "Folder in which captures appear", folder_, "watch", "Watch")) {
    choice.watch = folder_;
  }
  if (!contents.watched.empty()) {
    ImGui::Dummy({0, ui.px(4)});
    ui.paragraph("watching",
                 "Watching " + printable(contents.watched) + ": a database that appears is opened.",
                 Colour::dim);
    draw_files(ui, "watched", contents.appeared, choice);
  }
}

StartChoice StartScreen::draw(Ui& ui, const Box& box, const StartContents& contents) {
  StartChoice choice;
  const float width = std::min(box.width() - ui.px(20), ui.px(620));
  const float left = std::floor((box.min.x + box.max.x - width) / 2);
  ImGui::SetCursorScreenPos({left, box.min.y + ui.px(24)});
  const Ui::Region region = ui.region("start", {width, box.height() - ui.px(24)});
  ui.text("title", "Open a profiling database", {.font = FontKind::semibold});
  ImGui::Dummy({0, ui.px(6)});
  draw_path(ui, contents, choice);
  ui.paragraph("hint", "Or drop a file on this window. Ctrl+P: all commands. F1: keys and mouse.",
               Colour::dim);
  if (!contents.open.empty()) {
    ImGui::Dummy({0, ui.px(6)});
    choice.back = ui.button("back", "Back to " + printable(contents.open));
  }
  if (!contents.recent.empty()) {
    draw_heading(ui, "Recent files");
    draw_files(ui, "recent", contents.recent, choice);
  }
  draw_folder(ui, contents, choice);
  if (contents.has_demo) {
    draw_heading(ui, "Demo");
    ui.paragraph("demo_text",
                 "Records a small decoder on the CPU, before and after a change, and opens both.",
                 Colour::dim);
    ImGui::Dummy({0, ui.px(4)});
    choice.demo = ui.button("demo", "Record the demo", contents.progress.empty());
  }
  return choice;
}

}  // namespace reprise::debugger
