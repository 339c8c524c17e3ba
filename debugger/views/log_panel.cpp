#include "debugger/views/log_panel.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/ui/icons.h"
#include "debugger/views/choice_row.h"

namespace reprise::debugger {
namespace {

constexpr float kMessageWidth = 460;  // of an open one, at 1x

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

}  // namespace

void LogPanel::refresh(Workspace& workspace) {
  const Document& document = workspace.document;
  const bool is_new = capture_ != document.capture();
  if (is_new) {
    capture_ = document.capture();
    read_.forget();
    log_ = {};
    open_.reset();
    filter();
  }
  if (is_new || (asked_ != document.revision() && !read_.running())) {
    asked_ = document.revision();
    read_.ask(workspace.reads, capture_);
  }
  if (auto found = read_.take()) {
    log_ = std::move(*found);
    open_ = open_ && *open_ < log_.entries.size() ? open_ : std::nullopt;
    filter();
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
  if (!read_.problem().empty()) {
    ui.paragraph("problem", read_.problem(), Colour::error);
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

const std::vector<PanelColumn<LogPanel>>& LogPanel::columns() {
  using P = LogPanel;
  using Row = std::uint32_t;
  const auto text = [](const char* id, const char* title, float width, FontKind font,
                       std::string LogEntry::*member) {
    return PanelColumn<P>{{id, title, width, Align::left, font}, [member](const P& p, Row row) {
                            return dim_cell(p.log_.entries[row].*member);
                          }};
  };
  static const std::vector<PanelColumn<P>> kColumns = {
      {{"time", "Time", 92, Align::right, FontKind::mono},
       [](const P& p, Row row) {
         const auto& ns = p.log_.entries[row].time_ns;
         return ns && *ns >= 0 ? number_cell(duration_text(static_cast<std::uint64_t>(*ns)))
                               : dim_cell("\xE2\x80\x94");
       }},
      {{"severity", "Level", 84},
       [](const P& p, Row row) {
         const LogSeverity severity = p.log_.entries[row].severity;
         return TableCell{
             .text = name_of(severity), .colour = colour_of(severity), .mark = colour_of(severity)};
       }},
      text("source", "Source", 84, FontKind::regular, &LogEntry::source),
      text("code", "Code", 150, FontKind::mono, &LogEntry::code),
      {{"node", "Node", 140},
       [](const P& p, Row row) {
         const auto node = p.log_.entries[row].node;
         return node ? TableCell{.text = "#" + std::to_string(*node) + " " +
                                         p.capture_->nodes[*node].op,
                                 .mark = family_colour(p.capture_->nodes[*node].family)}
                     : dim_cell("");
       }},
      {{"message", "Message"},
       [](const P& p, Row row) { return TableCell{.text = p.log_.entries[row].message}; }}};
  return kColumns;
}

void LogPanel::draw_rows(Ui& ui, Workspace& workspace, const Box& box) {
  const Selection& selection = workspace.selection.current();
  const auto is_selected = [&](std::uint32_t entry) {
    const auto of = log_.entries[entry].node;
    return open_ == entry || (of && selection.holds(*of));
  };
  const TableRows rows{.selected = [&](std::size_t row) { return is_selected(rows_[row]); }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      table_.draw(ui, "table", *this, rows_, rows, {box.width(), box.height()});
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
  return row_actions("message", row_of(rows_, open_),
                     current_rows(workspace, capture_, rows_.size()), [&](std::size_t to) {
                       open(workspace, rows_[to]);
                       table_.scroll_to = to;
                     });
}

std::string LogPanel::sql(const Workspace& workspace) const {
  return events_sql(workspace.document.capture()->summary.id.run, static_cast<LogSeverity>(least_));
}

}  // namespace reprise::debugger
