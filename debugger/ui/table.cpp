#include "debugger/ui/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "debugger/ui/icons.h"

namespace reprise::debugger {
namespace {

constexpr float kCellPadding = 8;  // beside the text of a cell, at 1x
constexpr float kMinWidth = 80;    // of a column without a width, at 1x
constexpr float kEdge = 7;         // where a column's end can be dragged, at 1x

std::vector<float> column_widths(const Ui& ui, std::span<const TableColumn> columns,
                                 const TableState& state, float available) {
  std::vector<float> widths;
  float fixed = 0;
  std::size_t sharing = 0;
  for (const TableColumn& column : columns) {
    const auto dragged = state.arranged.widths.find(column.id);
    widths.push_back(
        ui.px(dragged == state.arranged.widths.end() ? column.width : dragged->second));
    fixed += widths.back();
    sharing += widths.back() == 0 ? 1U : 0U;
  }
  const float share = sharing == 0 ? 0 : (available - fixed) / static_cast<float>(sharing);
  for (float& width : widths) {
    width = width == 0 ? std::max(share, ui.px(kMinWidth)) : width;
  }
  return widths;
}

Box padded(const Ui& ui, const Box& box) {
  return {{box.min.x + ui.px(kCellPadding), box.min.y},
          {box.max.x - ui.px(kCellPadding), box.max.y}};
}

/// As wide as microseconds at least, so that numbers with other units stay aligned.
float unit_width(const Ui& ui, FontKind font, std::string_view unit) {
  return std::max(ui.text_size("\xC2\xB5s", font).x, ui.text_size(unit, font).x) + ui.px(4);
}

/// In the part of a cell that its text leaves free, the same for all of a column.
void draw_bar(Ui& ui, const TableColumn& column, double share, const Box& box) {
  const float reserved =
      ui.text_size("00.0", column.font).x + unit_width(ui, column.font, "%") + ui.px(6);
  const Box room{{box.min.x, box.min.y + ui.px(5)},
                 {std::max(box.max.x - reserved, box.min.x), box.max.y - ui.px(5)}};
  const float length = static_cast<float>(std::clamp(share, 0.0, 1.0)) * room.width();
  ui.fill(room, ui.colour(Colour::raised, 0.5F), ui.px(2));
  ui.fill({room.min, {room.min.x + std::max(length, ui.px(1)), room.max.y}},
          heat_colour(ui.theme(), share), ui.px(2));
}

void draw_cell(Ui& ui, const TableColumn& column, const TableCell& cell, const Box& box) {
  Box text = padded(ui, box);
  if (cell.bar) {
    draw_bar(ui, column, *cell.bar, text);
  }
  if (cell.mark) {
    const float height = ui.px(12);
    const float middle = (box.min.y + box.max.y) / 2;
    ui.fill({{text.min.x, middle - height / 2}, {text.min.x + ui.px(4), middle + height / 2}},
            ui.colour(*cell.mark), ui.px(1));
    text.min.x += ui.px(10);
  }
  if (!cell.unit.empty()) {
    const float width = unit_width(ui, column.font, cell.unit);
    const Box unit{{text.max.x - width + ui.px(4), text.min.y}, text.max};
    ui.text_in("", unit, cell.unit, {.font = column.font, .colour = Colour::dim, .elide = false});
    text.max.x -= width;
  }
  ui.text_in(column.id, text, cell.text,
             {.font = column.font, .colour = cell.colour, .align = column.align});
}

std::string row_text(std::span<const TableCell> cells) {
  std::string text;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const TableCell& cell = cells[c];
    text.append(c == 0 ? "" : "  ").append(cell.text);
    if (!cell.unit.empty()) {
      text.append(" ").append(cell.unit);
    }
  }
  return text;
}

/// The columns' titles, moved sideways with the rows.
bool draw_header(Ui& ui, std::span<const TableColumn> columns, std::span<const float> widths,
                 const TableOrder& usual, TableState& state, const Box& header) {
  const TableOrder order = state.arranged.order.value_or(usual);
  bool changed = false;
  ui.fill(header, ui.colour(Colour::header));
  const auto canvas = ui.canvas(header);
  const auto scope = ui.scope("header");
  float x = header.min.x - state.sideways;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TableColumn& column = columns[c];
    const Box box{{x, header.min.y}, {x + widths[c], header.max.y}};
    x += widths[c];
    const bool sorted = order.column == column.id;
    if (column.sortable) {
      const char* const direction = order.descending ? "descending" : "ascending";
      const Hit hit = ui.control(column.id, box, column.title, sorted ? direction : "");
      if (hit.hovered) {
        ui.fill(box, ui.colour(Colour::raised));
      }
      if (hit.clicked) {
        // Numbers are mostly asked for the greatest, texts for the first.
        state.arranged.order = {column.id,
                                sorted ? !order.descending : column.align == Align::right};
        changed = true;
      }
    }
    Box text = padded(ui, box);
    if (sorted) {  // the arrow stands beside the title, away from the edge it is aligned to
      const float arrow = ui.px(16), title = ui.text_size(column.title).x + ui.px(2);
      const float left = column.align == Align::right
                             ? std::max(text.max.x - title - arrow, text.min.x)
                             : std::min(text.min.x + title, text.max.x - arrow);
      ui.text_in("", {{left, box.min.y}, {left + arrow, box.max.y}},
                 order.descending ? icon::kUnfold : icon::kFoldUp, {.colour = Colour::accent});
    }
    ui.text_in("", text, column.title,
               {.colour = sorted ? Colour::text : Colour::dim, .align = column.align});
  }
  return changed;
}

/// The right ends of the columns, over their titles.
void drag_edges(Ui& ui, std::span<const TableColumn> columns, std::span<const float> widths,
                TableState& state, const Box& header) {
  const auto canvas = ui.canvas(header);
  const auto scope = ui.scope("edge");
  float x = header.min.x - state.sideways;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    x += widths[c];
    const Box edge{{x - ui.px(kEdge) / 2, header.min.y}, {x + ui.px(kEdge) / 2, header.max.y}};
    const Hit hit = ui.hit(columns[c].id, edge);
    if (hit.hovered || hit.held) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
      ui.fill({{x - ui.px(1), header.min.y}, {x + ui.px(1), header.max.y}},
              ui.colour(Colour::accent));
    }
    if (hit.double_clicked) {
      state.arranged.widths.erase(columns[c].id);
    } else if (hit.held && hit.dragged.x != 0) {
      state.arranged.widths[columns[c].id] =
          std::max((widths[c] + hit.dragged.x) / ui.scale(), kMinColumnWidth);
    }
  }
}

void draw_row(Ui& ui, std::span<const TableColumn> columns, std::span<const float> widths,
              const TableRows& rows, std::size_t row, const Box& box, float sideways,
              std::vector<TableCell>& cells, TableEvents& events) {
  const std::string id = std::to_string(rows.id(row));
  const bool selected = rows.selected(row);
  cells.clear();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    cells.push_back(rows.cell(row, c));
  }
  const Hit hit = ui.hit(id, box, row_text(cells), selected ? "selected" : "");
  if (selected || hit.hovered || row % 2 == 1) {
    ui.fill(box, ui.colour(selected      ? Colour::selection
                           : hit.hovered ? Colour::raised
                                         : Colour::zebra));
  }
  if (hit.clicked) {
    events.clicked = row;
  }
  if (hit.right_clicked) {
    events.right_clicked = row;
    events.right_clicked_text = row_text(cells);
  }
  const auto scope = ui.scope(id);
  float x = box.min.x - sideways;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    draw_cell(ui, columns[c], cells[c], {{x, box.min.y}, {x + widths[c], box.max.y}});
    x += widths[c];
  }
}

/// Shows which part of the columns is seen, and moves it.
void draw_sideways_bar(Ui& ui, const Box& box, float seen, float hidden, float& sideways) {
  const float length = box.width() * seen, travel = box.width() - length;
  const Hit hit = ui.hit("sideways", box);
  if (hit.held && travel > 0) {
    sideways = std::clamp(sideways + hit.dragged.x / travel * hidden, 0.0F, hidden);
  }
  const float left = box.min.x + sideways / hidden * travel;
  ui.fill({{left, box.min.y + ui.px(3)}, {left + length, box.max.y - ui.px(3)}},
          ui.colour(hit.hovered || hit.held ? Colour::dim : Colour::raised), ui.px(3));
}

}  // namespace

TableCell number_cell(const std::string& text) {
  TableCell cell;
  const std::size_t space = text.rfind(' ');
  cell.text = text.substr(0, space);
  cell.unit = space == std::string::npos ? "" : text.substr(space + 1);
  return cell;
}

TableEvents draw_table(Ui& ui, std::string_view id, std::span<const TableColumn> columns,
                       const TableRows& rows, TableState& state, ImVec2 size) {
  TableEvents events;
  const auto scope = ui.scope(id);
  const Box rest = ui.rest();
  const Box all{rest.min,
                {rest.min.x + (size.x == 0 ? rest.width() : size.x),
                 rest.min.y + (size.y == 0 ? rest.height() : size.y)}};
  const float row_height = ui.row_height();
  const float needed_height = static_cast<float>(rows.count) * row_height;
  const float scrollbar = ImGui::GetStyle().ScrollbarSize;
  Box body{{all.min.x, all.min.y + row_height}, all.max};
  const float room = all.width() - (needed_height > body.height() ? scrollbar : 0);
  const std::vector<float> widths = column_widths(ui, columns, state, room);
  const float width = std::accumulate(widths.begin(), widths.end(), 0.0F);
  const float hidden = std::max(std::floor(width - room), 0.0F);
  body.max.y = std::max(body.max.y - (hidden > 0 ? scrollbar : 0), body.min.y + 1);

  if (state.followed != rows.follow) {
    state.followed = rows.follow;
    for (std::size_t row = 0; row < rows.count && !state.scroll_to; ++row) {
      state.scroll_to = rows.selected(row) ? std::optional(row) : std::nullopt;
    }
  }
  if (rows.count == 0 && !rows.none.empty()) {
    ui.text_in("none",
               {{body.min.x + ui.px(kCellPadding), body.min.y},
                {body.max.x - ui.px(kCellPadding), std::min(body.min.y + row_height, body.max.y)}},
               rows.none, {.colour = Colour::dim});
  }
  ImGui::SetCursorScreenPos(body.min);
  {
    const auto region = ui.region("row", {body.width(), body.height()});
    if (ImGui::GetIO().KeyShift && ImGui::IsWindowHovered()) {
      state.sideways -= ImGui::GetIO().MouseWheel * ui.px(60);
    }
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const Box seen{ui.draw_list().GetClipRectMin(), ui.draw_list().GetClipRectMax()};
    ImGui::Dummy({1, needed_height});
    if (state.scroll_to && *state.scroll_to < rows.count) {
      const float top = static_cast<float>(*state.scroll_to) * row_height;
      const float scrolled = ImGui::GetScrollY();
      if (top < scrolled || top + row_height > scrolled + body.height()) {
        ImGui::SetScrollY(top - body.height() / 2);
      }
    }
    state.scroll_to.reset();
    const auto row_at = [&](float y) {
      return static_cast<std::size_t>(std::max(y - origin.y, 0.0F) / row_height);
    };
    const auto canvas = ui.canvas(seen);
    std::vector<TableCell> cells;
    for (std::size_t row = row_at(seen.min.y); row < std::min(rows.count, row_at(seen.max.y) + 1);
         ++row) {
      const float top = origin.y + static_cast<float>(row) * row_height;
      draw_row(ui, columns, widths, rows, row,
               {{origin.x, top}, {origin.x + room, top + row_height}}, state.sideways, cells,
               events);
    }
  }
  state.sideways = std::clamp(state.sideways, 0.0F, hidden);
  if (hidden > 0) {
    draw_sideways_bar(ui, {{all.min.x, body.max.y}, {all.min.x + room, all.max.y}}, room / width,
                      hidden, state.sideways);
  }
  const Box header{all.min, {all.max.x, body.min.y}};
  events.sort_changed = draw_header(ui, columns, widths, rows.usual_order, state, header);
  drag_edges(ui, columns, widths, state, header);
  return events;
}

}  // namespace reprise::debugger
