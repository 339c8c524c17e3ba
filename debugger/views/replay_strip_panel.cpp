#include "debugger/views/replay_strip_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "debugger/model/format.h"
#include "debugger/model/sql_text.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr float kLeftWidth = 140, kRightWidth = 250;  // of the texts beside the cells, at 1x
constexpr float kSecondsEach = 0.1F;                  // while playing

Colour colour_of(ReplayKind kind) {
  switch (kind) {
    case ReplayKind::failed:
      return Colour::error;
    case ReplayKind::outlier:
      return Colour::warning;
    case ReplayKind::warm_up:
      return Colour::attention;
    case ReplayKind::skipped:
      return Colour::dim;
    case ReplayKind::not_finite:
      return Colour::nan;
    default:
      return Colour::norm;
  }
}

/// The rows of the range, or all of them.
ReplayRange rows_of(const Document& document) {
  return document.range().value_or(ReplayRange{0, document.replays().rows.size() - 1});
}

void show_next(Document& document, std::ptrdiff_t step, bool wrap) {
  const std::size_t count = document.replays().rows.size();
  if (count == 0) {
    return;
  }
  const ReplayRange range = wrap ? rows_of(document) : ReplayRange{0, count - 1};
  const std::size_t shown = std::min(document.shown_replay().value_or(range.last), count - 1);
  const bool at_end = step > 0 ? shown >= range.last : shown <= range.first;
  if (at_end) {
    document.show_replay(wrap ? range.first : shown);
  } else {
    document.show_replay(std::max(step > 0 ? shown + 1 : shown - 1, range.first));
  }
}

std::string sequence_text(const ReplayRow& row) { return "#" + count_text(row.sequence); }

/// Two lines beside the cells.
void draw_pair(Ui& ui, std::string_view id, const Box& box, std::string_view first,
               std::string_view second) {
  const auto scope = ui.scope(id);
  const float middle = (box.min.y + box.max.y) / 2, line = ui.px(18), pad = ui.px(8);
  const float left = box.min.x + pad, right = box.max.x - pad;
  ui.text_in("first", {{left, middle - line}, {right, middle}}, first, {.font = FontKind::mono});
  ui.text_in("second", {{left, middle}, {right, middle + line}}, second,
             {.font = FontKind::mono, .colour = Colour::dim});
}

/// What the mouse is told about a replay.
std::string describe(const Workspace& workspace, std::size_t row, ReplayKind kind) {
  const ReplayTable& table = workspace.document.replays();
  const ReplayRow& replay = table.rows[row];
  std::string text = sequence_text(replay) + (replay.phase.empty() ? "" : "  ") + replay.phase;
  if (kind != ReplayKind::normal) {
    text += std::string("  ") + name_of(kind);
  }
  const auto line = [&](const char* name, std::optional<std::uint64_t> ns) {
    text += ns ? std::string("\n") + name + " " + duration_text(*ns) : "";
  };
  line("device", replay.device_ns);
  line("prepare", replay.prepare_ns);
  line("submit", replay.submit_ns);
  line("wait", replay.wait_ns);
  const std::string state = state_text(*workspace.document.capture(), table, row);
  return text + (state.empty() ? "" : "\n" + state);
}

}  // namespace

void ReplayStripPanel::refresh(Workspace& workspace, std::size_t columns) {
  const auto& rows = workspace.document.replays().rows;
  workspace.show_numbers();
  const bool same_capture = capture_ == workspace.document.capture();
  if (!same_capture) {
    capture_ = workspace.document.capture();
    brush_.reset();
  }
  if (!same_capture || asked_columns_ != columns || numbers_ != workspace.numbers.revision() ||
      outgrown(rows_, rows.size(), workspace.document.live())) {
    rows_ = rows.size();
    asked_columns_ = columns;
    numbers_ = workspace.numbers.revision();
    const TensorStatistics* const numbers = workspace.numbers.value();
    strip_ = make_strip(rows, columns,
                        numbers == nullptr ? std::span<const std::int64_t>()
                                           : std::span(numbers->not_finite_replays));
  }
}

void ReplayStripPanel::draw(Ui& ui, Workspace& workspace) {
  const Document& document = workspace.document;
  const auto& rows = document.replays().rows;
  if (rows.empty()) {
    draw_empty_state(ui, "The graph was not replayed yet", "CapturedGraph::launch()");
    return;
  }
  play(workspace);
  const Box all = ui.rest();
  const Box box{{all.min.x + ui.px(kLeftWidth), all.min.y + ui.px(3)},
                {all.max.x - ui.px(kRightWidth), all.max.y - ui.px(3)}};
  refresh(workspace, static_cast<std::size_t>(std::max(box.width(), 1.0F)));

  const ReplayRange range = rows_of(document);
  draw_pair(ui, "range", {all.min, {box.min.x, all.max.y}},
            count_text(range.last - range.first + 1) +
                (document.range() ? " of " + count_text(rows.size()) : " replays"),
            document.range()
                ? sequence_text(rows[range.first]) + " to " + sequence_text(rows[range.last])
                : std::string());
  if (!document.range()) {
    draw_legend(ui, {{all.min.x, (all.min.y + all.max.y) / 2}, {box.min.x, all.max.y}});
  }
  if (const auto shown = document.shown_replay(); shown && *shown < rows.size()) {
    draw_pair(ui, "shown", {{box.max.x, all.min.y}, all.max},
              sequence_text(rows[*shown]) + "  " + duration_text(replay_duration(rows[*shown])) +
                  (document.live() && document.follows_newest() ? "  newest" : ""),
              state_text(*document.capture(), document.replays(), *shown));
  }
  ui.publish("shown", document.shown_replay() ? std::to_string(*document.shown_replay()) : "");
  ui.publish("range", document.range()
                          ? std::to_string(range.first) + " " + std::to_string(range.last)
                          : "");

  const Hit hit = ui.hit("cells", box, count_text(rows.size()) + " replays");
  handle_mouse(ui, workspace, box, hit);
  draw_columns(ui, workspace, box);
  draw_overlays(ui, workspace, box);
}

/// How many replays have each of the colours; the mouse is told the names.
void ReplayStripPanel::draw_legend(Ui& ui, const Box& box) const {
  const float middle = box.min.y + ui.px(9), half = ui.px(4);
  float x = box.min.x + ui.px(8);
  std::string named, counted;
  for (std::size_t k = kReplayKinds; k-- > 1;) {
    if (strip_.counts[k] == 0) {
      continue;
    }
    const auto kind = static_cast<ReplayKind>(k);
    const std::string count = count_text(strip_.counts[k]);
    const float width = std::ceil(ui.text_size(count, FontKind::mono).x);
    named += (named.empty() ? "" : "\n") + count + " " + name_of(kind);
    counted += (counted.empty() ? "" : " ") + count;
    if (x + ui.px(11) + width > box.max.x) {
      continue;
    }
    ui.fill({{x, middle - half}, {x + 2 * half, middle + half}}, ui.colour(colour_of(kind)),
            ui.px(2));
    x += ui.px(11);
    ui.text_in("", {{x, box.min.y}, {x + width, box.min.y + ui.px(18)}}, count,
               {.font = FontKind::mono, .colour = Colour::dim, .elide = false});
    x += width + ui.px(9);
  }
  if (named.empty()) {
    ui.text_in("", {{x, box.min.y}, {box.max.x, box.min.y + ui.px(18)}}, "all of them",
               {.font = FontKind::mono, .colour = Colour::dim});
    return;
  }
  if (ui.hit("legend", box, counted, named).hovered) {
    ui.tooltip(named);
  }
}

void ReplayStripPanel::draw_columns(Ui& ui, const Workspace& workspace, const Box& box) const {
  ui.fill(box, ui.colour(Colour::header));
  const double scale = static_cast<double>(std::max<std::uint64_t>(strip_.scale_ns, 1));
  const float cell = box.width() / static_cast<float>(strip_.columns.size());
  const float gap = cell >= ui.px(4) ? ui.px(1) : 0;
  const auto range = workspace.document.range();
  for (std::size_t c = 0; c < strip_.columns.size(); ++c) {
    const StripColumn& column = strip_.columns[c];
    const float share =
        static_cast<float>(std::min(static_cast<double>(column.duration_ns) / scale, 1.0));
    const float left = box.min.x + static_cast<float>(c) * cell;
    const bool inside = !range || (column.last >= range->first && column.first <= range->last);
    ui.fill({{left, box.max.y - std::max(share * box.height(), ui.px(2))},
             {left + cell - gap, box.max.y}},
            ui.colour(colour_of(column.kind), inside ? 0.9F : 0.35F));
    if (column.duration_ns > strip_.scale_ns) {  // a broken column is taller than the strip
      ui.fill({{left, box.min.y + ui.px(5)}, {left + cell - gap, box.min.y + ui.px(8)}},
              ui.colour(Colour::header));
    }
  }
}

void ReplayStripPanel::draw_overlays(Ui& ui, const Workspace& workspace, const Box& box) const {
  const Document& document = workspace.document;
  const std::size_t columns = strip_.columns.size();
  const float cell = box.width() / static_cast<float>(columns);
  const auto left_of = [&](std::size_t row) {
    return box.min.x +
           static_cast<float>(column_of(std::min(row, rows_ - 1), rows_, columns)) * cell;
  };
  const auto range = brush_ ? brush_ : document.range();
  if (range) {
    const Box brushed{{left_of(range->first), box.min.y}, {left_of(range->last) + cell, box.max.y}};
    ui.fill(brushed, ui.colour(Colour::accent, 0.15F));
    ui.frame(brushed, ui.colour(Colour::accent), 0, ui.px(1));
  }
  if (const auto shown = document.shown_replay(); shown && *shown < rows_) {
    const float centre = left_of(*shown) + cell / 2, half = std::max(cell / 2, ui.px(1.5F));
    ui.fill({{centre - half, box.min.y}, {centre + half, box.min.y + ui.px(3)}},
            ui.colour(Colour::text));
    ui.frame({{centre - half, box.min.y}, {centre + half, box.max.y}},
             ui.colour(Colour::text, 0.6F), 0, ui.px(1));
  }
}

void ReplayStripPanel::handle_mouse(Ui& ui, Workspace& workspace, const Box& box, const Hit& hit) {
  Document& document = workspace.document;
  const auto column_under = [&](ImVec2 point) -> const StripColumn& {
    const float at = std::clamp((point.x - box.min.x) / box.width(), 0.0F, 1.0F);
    const auto column = static_cast<std::size_t>(at * static_cast<float>(strip_.columns.size()));
    return strip_.columns[std::min(column, strip_.columns.size() - 1)];
  };
  const StripColumn& under = column_under(ImGui::GetMousePos());
  if (hit.held && (brush_ || hit.dragged.x != 0)) {
    const StripColumn& from = column_under(ImGui::GetIO().MouseClickedPos[0]);
    brush_ = ReplayRange{std::min(from.first, under.first), std::max(from.last, under.last)};
  } else if (brush_ && !hit.held) {
    document.set_range(*std::exchange(brush_, std::nullopt));
  } else if (hit.double_clicked) {
    document.set_range(std::nullopt);
  } else if (hit.clicked || hit.right_clicked) {
    document.show_replay(under.tallest);
  }
  draw_context_menu(ui, hit.right_clicked, [&] { return replay_menu(workspace); });
  if (hit.hovered && !hit.held) {
    std::string text = describe(workspace, under.tallest, under.kind);
    if (under.duration_ns > strip_.scale_ns) {
      text += "\nlonger than a whole column, which is " + duration_text(strip_.scale_ns);
    }
    if (under.last > under.first) {
      text += "\nthe longest of " + count_text(under.last - under.first + 1) + " replays here";
    }
    ui.tooltip(text);
  }
}

Actions ReplayStripPanel::replay_menu(Workspace& workspace) const {
  Document& document = workspace.document;
  const std::size_t shown = document.shown_replay().value_or(0);
  return {
      {"Copy", "",
       [&workspace, shown] {
         ImGui::SetClipboardText(describe(workspace, shown, ReplayKind::normal).c_str());
         workspace.notice = "Copied";
       }},
      {"Show in Timeline", "", [&workspace] { workspace.wanted_panel = "timeline"; }},
      {"Take this replay alone", "",
       [&document, shown] {
         document.set_range(ReplayRange{shown, shown});
       }},
      {"Take all replays", "Escape", [&document] { document.set_range({}); },
       document.range().has_value()},
      {"Compare ranges in Statistics", "", [&workspace] { workspace.wanted_panel = "statistics"; }},
      {"Follow the newest replay", "End", [&document] { document.follow_newest(); }}};
}

void ReplayStripPanel::play(Workspace& workspace) {
  played_ = workspace.playing ? played_ + ImGui::GetIO().DeltaTime : 0;
  if (played_ >= kSecondsEach) {
    played_ = 0;
    show_next(workspace.document, 1, true);
  }
}

Actions ReplayStripPanel::actions(Workspace& workspace) {
  Document& document = workspace.document;
  return {
      {"Previous replay", "Left", [&] { show_next(document, -1, false); }},
      {"Next replay", "Right", [&] { show_next(document, 1, false); }},
      {"Follow the newest replay", "End", [&] { document.follow_newest(); }},
      {"Show the run that was added", "", [&] { document.choose(*document.added_run()); },
       document.added_run().has_value()},
      {"Play or pause", "Space", [&] { workspace.playing = !workspace.playing; }},
      {"Take all replays", "Escape", [&] { document.set_range({}); }, document.range().has_value()},
  };
}

std::string ReplayStripPanel::sql(const Workspace& workspace) const {
  std::string where = "\nWHERE " + sql_capture(workspace.document.capture()->summary.id);
  if (const auto replays = shown_times(workspace.document).replays) {
    where += " AND c.id BETWEEN " + std::to_string(replays->first) + " AND " +
             std::to_string(replays->second);
  }
  return "SELECT id, seq, phase, coalesce(device_us, submit_us + wait_us) AS shown_us, device_us,\n"
         "  prepare_us, submit_us, wait_us, timing_mode, warm_up, status\nFROM v_replays AS c" +
         where + "\nORDER BY id";
}

Gestures ReplayStripPanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Click", "Show the replay in Timeline"},
      {"Drag", "Choose a range for all panels"},
      {"Double click", "Take all replays"},
      {"Point at the squares", "What the colours stand for"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
