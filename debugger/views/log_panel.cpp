#include "debugger/views/log_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/panel_reads.h"
#include "debugger/ui/icons.h"
#include "debugger/views/choice_row.h"

namespace reprise::debugger {
namespace {

constexpr float kMessageWidth = 460;  // of an open one, at 1x

enum LogColumn : std::size_t {
  log_time,
  log_severity,
  log_source,
  log_code,
  log_node,
  log_message
};
const std::vector<TableColumn>& log_columns() {
  static const std::vector<TableColumn> kColumns = {
      {"time", "Time", 92, Align::right, FontKind::mono, false},
      {"severity", "Level", 84, Align::left, FontKind::regular, false},
      {"source", "Source", 84, Align::left, FontKind::regular, false},
      {"code", "Code", 150, Align::left, FontKind::mono, false},
      {"node", "Node", 140, Align::left, FontKind::regular, false},
      {"message", "Message", 0, Align::left, FontKind::regular, false}};
  return kColumns;
}

Colour colour_of(LogSeverity of) {
  switch (of) {
    case LogSeverity::error:
      return Colour::error;
    case LogSeverity::warning:
      return Colour::warning;
    default:
      return Colour::dim;
  }
}

TableCell dim(std::string text) { return {.text = std::move(text), .colour = Colour::dim}; }

}  // namespace

void LogPanel::refresh(Workspace& workspace) {
  const Document& document = workspace.document;
  WorkerRead<EventLog>& job = workspace.reads->events;
  const bool is_new = capture_ != document.capture();
  if (is_new) {
    capture_ = document.capture();
    log_ = {};
    open_.reset();
    filter();
  }
  if (is_new || (asked_ != document.revision() && !job.running())) {
    asked_ = document.revision();
    job.ask([path = document.path(), capture = capture_](const std::stop_token& stop) {
      return read_event_log(path, *capture, stop);
    });
  }
  if (job.finished() != finished_) {
    finished_ = job.finished();
    const EventLog* const found = job.result();
    if (found != nullptr && found->capture == capture_->summary.id) {
      log_ = *found;
      open_ = open_ && *open_ < log_.entries.size() ? open_ : std::nullopt;
      filter();
    }
  }
}

std::optional<PanelBadge> LogPanel::badge(Workspace& workspace) {
  refresh(workspace);
  const auto at_least = [&](LogSeverity severity) {
    return log_.counts[static_cast<std::size_t>(severity)];
  };
  const std::size_t bad = at_least(LogSeverity::warning);
  if (bad == 0) {
    return std::nullopt;
  }
  return PanelBadge{count_text(bad),
                    at_least(LogSeverity::error) > 0 ? Colour::error : Colour::warning};
}

void LogPanel::filter() { rows_ = log_rows(log_, static_cast<LogSeverity>(least_), words_); }

void LogPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  const std::string& error = workspace.reads->events.error();
  if (!error.empty()) {
    ui.paragraph("problem", error, Colour::error);
    return;
  }
  if (log_.entries.empty()) {
    draw_empty_state(ui, "Nothing was logged: no warning, no error, no event of this run.",
                     "executor.set_watches({{.tensors = \"*\"}}) logs the first result that is no "
                     "number.");
    return;
  }
  const Box all = ui.rest();
  const float bar = ui.px(30);
  draw_filter(ui, {all.min, {all.max.x, all.min.y + bar}});
  const float split =
      open_ ? all.max.x - std::min(ui.px(kMessageWidth), all.width() * 0.4F) : all.max.x;
  draw_rows(ui, workspace, {{all.min.x, all.min.y + bar}, {split, all.max.y}});
  if (open_) {
    draw_message(ui, {{split + ui.px(10), all.min.y + bar}, all.max});
  }
}

void LogPanel::draw_filter(Ui& ui, const Box& box) {
  const float top = box.min.y + ui.px(4), pad = ui.px(8);
  std::vector<Choice> choices;
  for (std::size_t s = 0; s < kLogSeverities; ++s) {
    constexpr std::array kLabels{"All", "Info and worse", "Warnings and errors", "Errors"};
    choices.push_back({name_of(static_cast<LogSeverity>(s)),
                       std::string(kLabels[s]) + " " + count_text(log_.counts[s])});
  }
  float left = 0;
  {
    const auto scope = ui.scope("level");
    if (draw_choices(ui, {{box.min.x + pad, top}, {box.max.x - pad, top + ui.row_height()}},
                     choices, least_, left)) {
      filter();
    }
  }
  const float input = ui.px(220);
  if (left + pad + input < box.max.x) {
    ImGui::SetCursorScreenPos({left + pad, top});
    if (ui.input("words", "part of a message", words_, input)) {
      filter();
    }
    left += pad + input;
  }
  const std::string count = (log_.truncated ? "the last " : "") + count_text(rows_.size()) +
                            " of " + count_text(log_.entries.size());
  ui.text_in(
      "count",
      {{std::min(left + pad, box.max.x - pad - 1), top}, {box.max.x - pad, top + ui.row_height()}},
      count, {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
}

TableCell LogPanel::cell(const LogEntry& entry, std::size_t column) const {
  switch (column) {
    case log_time: {
      const bool known = entry.time_ns && *entry.time_ns >= 0;
      return known ? number_cell(duration_text(static_cast<std::uint64_t>(*entry.time_ns)))
                   : dim("\xE2\x80\x94");
    }
    case log_severity:
      return {.text = name_of(entry.severity),
              .colour = colour_of(entry.severity),
              .mark = colour_of(entry.severity)};
    case log_source:
      return dim(entry.source);
    case log_code:
      return dim(entry.code);
    case log_node: {
      if (!entry.node) {
        return dim("");
      }
      const Capture::Node& of = capture_->nodes[*entry.node];
      return {.text = "#" + std::to_string(*entry.node) + " " + of.op,
              .mark = family_colour(of.family)};
    }
    default:
      return {.text = entry.message};
  }
}

void LogPanel::draw_rows(Ui& ui, Workspace& workspace, const Box& box) {
  const Selection& selection = workspace.selection.current();
  const auto is_selected = [&](std::uint32_t entry) {
    const auto of = log_.entries[entry].node;
    return open_ == entry || (of && selection.holds(*of));
  };
  const TableRows rows{
      .count = rows_.size(),
      .id = [&](std::size_t row) { return rows_[row]; },
      .cell = [&](std::size_t row,
                  std::size_t column) { return cell(log_.entries[rows_[row]], column); },
      .selected = [&](std::size_t row) { return is_selected(rows_[row]); }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "table", log_columns(), rows, table_, {box.width(), box.height()});
  if (events.clicked && open_ == rows_[*events.clicked]) {
    open_.reset();
  } else if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    open(workspace, rows_[*row]);
  }
  menu_.draw(ui, workspace, events, open_ && log_.entries[*open_].node);
}

void LogPanel::open(Workspace& workspace, std::uint32_t entry) {
  open_ = entry;
  if (const auto of = log_.entries[entry].node) {
    workspace.select_node(*of);
  }
  if (const auto replay = log_.entries[entry].replay) {
    const auto& replays = workspace.document.replays().rows;
    const auto found =
        std::lower_bound(replays.begin(), replays.end(), *replay,
                         [](const ReplayRow& row, std::int64_t wanted) { return row.id < wanted; });
    if (found != replays.end() && found->id == *replay) {
      workspace.document.show_replay(static_cast<std::size_t>(found - replays.begin()));
    }
  }
}

void LogPanel::draw_message(Ui& ui, const Box& box) const {
  const LogEntry& entry = log_.entries[*open_];
  ImGui::SetCursorScreenPos(box.min);
  const auto region = ui.region("open", {box.width() - ui.px(8), box.height()});
  ui.text("title", std::string(name_of(entry.severity)) + "  " + entry.source + "  " + entry.code,
          {.font = FontKind::semibold, .colour = colour_of(entry.severity)});
  ui.paragraph("message", entry.message);
}

Actions LogPanel::actions(Workspace& workspace) {
  const auto found = open_ ? std::ranges::find(rows_, *open_) : rows_.end();
  const auto row = found == rows_.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::size_t>(found - rows_.begin()));
  return row_actions("message", row, rows_.size(), [&](std::size_t to) {
    open(workspace, rows_[to]);
    table_.scroll_to = to;
  });
}

std::string LogPanel::sql(const Workspace& workspace) const {
  return events_sql(workspace.document.capture()->summary.id.run, static_cast<LogSeverity>(least_));
}

}  // namespace reprise::debugger
