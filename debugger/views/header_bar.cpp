#include "debugger/views/header_bar.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/printable.h"
#include "debugger/ui/icons.h"
#include "debugger/views/perturbation_meter.h"

namespace reprise::debugger {
namespace {

std::string capture_name(const CaptureSummary& capture) {
  return printable(capture.name.empty() ? "(unnamed)" : capture.name) + "   run " +
         std::to_string(capture.id.run) + ", graph " + std::to_string(capture.id.graph);
}

std::string timing_name(const TimingSource& source) {
  return (source.phase.empty() ? "all replays" : printable(source.phase)) + ", " +
         std::string(name_of(source.mode));
}

/// Text after text, from the left.
class Line {
 public:
  Line(Ui& ui, const Box& box) : ui_(ui), box_(box) {}
  Box take(float width) {
    const Box piece{{box_.min.x, box_.min.y},
                    {std::min(box_.min.x + width, box_.max.x), box_.max.y}};
    box_.min.x = std::min(piece.max.x + ui_.px(12), box_.max.x);
    return piece;
  }
  void text(std::string_view id, const std::string& text, const TextStyle& style = {}) {
    ui_.text_in(id, take(ui_.text_size(text, style.font).x + 1), text, style);
  }
  const Box& rest() const { return box_; }

 private:
  Ui& ui_;
  Box box_;
};

void draw_capture_choice(Ui& ui, Workspace& workspace, Line& line) {
  const std::vector<CaptureSummary>& captures = workspace.document.captures();
  const std::shared_ptr<const Capture> shown = workspace.document.capture();
  const auto found = std::ranges::find_if(captures, [&](const CaptureSummary& capture) {
    return shown != nullptr && capture.id == shown->summary.id;
  });
  auto chosen = static_cast<std::size_t>(found - captures.begin());
  const Box box = line.take(ui.px(270));
  ImGui::SetCursorScreenPos({box.min.x, box.min.y + (box.height() - ui.row_height()) / 2});
  if (ui.combo(
          "capture", captures.size(), [&](std::size_t i) { return capture_name(captures[i]); },
          chosen, box.width())) {
    workspace.document.choose(captures[chosen].id);
  }
}

/// A run that was added to the file since it was opened.
void draw_added_run(Ui& ui, Workspace& workspace, Line& line) {
  if (const auto added = workspace.document.added_run()) {
    const std::string label = "Run " + std::to_string(added->run) + " was added";
    const Box box = line.take(ui.text_size(label).x + ui.px(17));
    ImGui::SetCursorScreenPos({box.min.x, box.min.y + (box.height() - ui.row_height()) / 2});
    if (ui.button("added_run", label)) {
      workspace.document.choose(*added);
    }
  }
}

void draw_timing_choice(Ui& ui, Workspace& workspace, Line& line) {
  const std::vector<TimingSource>& sources = workspace.document.timing_sources();
  if (sources.size() < 2) {
    return;
  }
  std::vector<std::string> names;
  std::size_t chosen = 0;
  for (const TimingSource& source : sources) {
    if (source == workspace.document.statistics().source) {
      chosen = names.size();
    }
    names.push_back(timing_name(source));
  }
  const Box box = line.take(ui.px(150));
  ImGui::SetCursorScreenPos({box.min.x, box.min.y + (box.height() - ui.row_height()) / 2});
  if (ui.combo("timing", names, chosen, box.width())) {
    workspace.document.choose_timing(sources[chosen]);
  }
}

/// At the right end; the box that is left of it.
Box draw_run_state(Ui& ui, const Workspace& workspace, Box box) {
  const bool live = workspace.document.live();
  const std::string state = workspace.document.exit_state();
  if (!live && state == "done") {
    return box;
  }
  const std::string text = live ? std::string(icon::kLive) + "  LIVE" : printable(state);
  const TextStyle style{.font = FontKind::semibold,
                        .colour = live ? Colour::ok : Colour::warning,
                        .align = Align::right};
  ui.text_in("run_state", box, text, style);
  box.max.x -= std::min(ui.text_size(text, style.font).x + ui.px(20), box.width());
  return box;
}

void draw_bookmarks(Ui& ui, Workspace& workspace, Line& line) {
  const CaptureId capture = workspace.document.capture()->summary.id;
  const Selection& here = workspace.selection.current();
  const Box button = line.take(ui.row_height());
  ImGui::SetCursorScreenPos({button.min.x, button.min.y + (button.height() - ui.row_height()) / 2});
  if (!ui.begin_menu("bookmarks", icon::kBookmark, "Bookmarks")) {
    return;
  }
  const bool marked = workspace.bookmarks.has({capture, here});
  if (ui.menu_entry("toggle", marked ? "Remove this bookmark" : "Bookmark the selection", "Ctrl+B",
                    here.node || here.item)) {
    workspace.toggle_bookmark();
  }
  const std::vector<Selection> places = workspace.bookmarks.of(capture);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    if (ui.menu_entry(number, place_name(workspace, places[i]), i < 9 ? "Ctrl+" + number : "",
                      workspace.has(places[i]))) {
      workspace.select(places[i]);
    }
  }
  ui.end_menu();
}

}  // namespace

void draw_header_bar(Ui& ui, Workspace& workspace, const Box& box) {
  const Ui::Scope scope = ui.scope("header");
  const float pad = ui.px(8);
  Line line(ui, {{box.min.x + pad, box.min.y}, {box.max.x - pad, box.max.y}});
  for (const bool back : {true, false}) {
    const Box button = line.take(ui.row_height());
    ImGui::SetCursorScreenPos(
        {button.min.x, button.min.y + (button.height() - ui.row_height()) / 2});
    const bool enabled =
        back ? workspace.selection.can_go_back() : workspace.selection.can_go_forward();
    if (ui.icon_button(back ? "back" : "forward", back ? icon::kBack : icon::kForward,
                       back ? "Back (Alt+Left)" : "Forward (Alt+Right)", enabled)) {
      back ? workspace.back() : workspace.forward();
    }
  }
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  if (capture) {
    draw_bookmarks(ui, workspace, line);
  } else {
    line.text("state", workspace.document.busy() ? "Reading ..." : "", {.colour = Colour::dim});
    return;
  }
  draw_capture_choice(ui, workspace, line);
  draw_added_run(ui, workspace, line);
  draw_timing_choice(ui, workspace, line);
  const ReplayStatistics& replays = workspace.document.replay_statistics();
  line.text("nodes", count_text(capture->nodes.size()) + " nodes", {.font = FontKind::mono});
  line.text("replays", count_text(replays.count) + " replays", {.font = FontKind::mono});
  line.text("p50", "p50 " + duration_text(replays.p50_ns), {.font = FontKind::mono});
  line.text("p95", "p95 " + duration_text(replays.p95_ns), {.font = FontKind::mono});
  draw_perturbation_meter(ui, workspace, line.take(perturbation_width(ui, workspace)));
  if (replays.failed > 0) {
    line.text("failed", count_text(replays.failed) + " failed", {.colour = Colour::error});
  }
  const Box rest = draw_run_state(ui, workspace, line.rest());
  ui.text_in("device", rest, printable(capture->summary.device),
             {.colour = Colour::dim, .align = Align::right});
}

void draw_status_bar(Ui& ui, Workspace& workspace, const Box& box) {
  const Ui::Scope scope = ui.scope("status");
  ui.fill(box, ui.colour(Colour::header));
  const float pad = ui.px(8);
  const Box inside{{box.min.x + pad, box.min.y}, {box.max.x - pad, box.max.y}};
  const float half = inside.min.x + inside.width() * 0.6F;
  const Box left{inside.min, {half - pad, inside.max.y}};
  if (!workspace.document.problem().empty()) {
    ui.text_in("problem", left,
               std::string(icon::kWarning) + "  " + printable(workspace.document.problem()),
               {.colour = Colour::error});
  } else if (!workspace.notice.empty()) {
    ui.text_in("notice", left, printable(workspace.notice), {});
  } else {
    const CaptureStatistics& statistics = workspace.document.statistics();
    std::string text;
    if (!statistics.nodes.empty()) {
      text = "p50 per node (" + timing_name(statistics.source) + ") of " + replays_text(statistics);
    }
    ui.text_in("times", left, text, {.colour = Colour::dim});
  }
  const std::string hint = "Ctrl+P: all commands   F1: keys and mouse";
  const float room = inside.max.x - half, hint_width = ui.text_size(hint).x + ui.px(24);
  const auto width_of = [&](const std::string& text) {
    return ui.text_size(text, FontKind::mono).x + 1;
  };
  const std::filesystem::path& path = workspace.document.path();
  const std::string whole = printable(path.string());
  const bool fits = width_of(whole) + hint_width <= room;
  const std::string file = fits ? whole : printable(path.filename().string());
  const Box right{{inside.max.x - std::min(width_of(file), room), inside.min.y}, inside.max};
  ui.text_in("file", right, file, {.font = FontKind::mono, .colour = Colour::dim});
  if (!fits && right.contains(ImGui::GetMousePos())) {
    ui.tooltip(whole);
  }
  if (const float end = right.min.x - ui.px(24); width_of(file) + hint_width <= room) {
    ui.text_in("hint", {{half, inside.min.y}, {end, inside.max.y}}, hint,
               {.colour = Colour::dim, .align = Align::right});
  }
}

}  // namespace reprise::debugger
