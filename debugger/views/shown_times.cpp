#include "debugger/views/shown_times.h"

#include "debugger/views/panel.h"

namespace reprise::debugger {

SqlTimes shown_times(const Document& document) { return shown_times(document, document.range()); }

SqlTimes shown_times(const Document& document, std::optional<ReplayRange> range) {
  SqlTimes times{.source = document.statistics().source, .replays = {}};
  const auto& rows = document.replays().rows;
  if (range && range->first <= range->last && range->last < rows.size()) {
    times.replays = std::pair(rows[range->first].id, rows[range->last].id);
  }
  return times;
}

void draw_no_times(Ui& ui) {
  const Box row = ui.rest();
  ui.text_in(
      "no-times", {{row.min.x + ui.px(8), row.min.y}, {row.max.x, row.min.y + ui.row_height()}},
      "No node was timed: ExecutorOptions{.timing = TimingMode::node}", {.colour = Colour::dim});
  ImGui::SetCursorScreenPos({row.min.x, row.min.y + ui.row_height()});
}

}  // namespace reprise::debugger
