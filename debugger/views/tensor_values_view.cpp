#include "debugger/views/tensor_values_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "debugger/model/format.h"

namespace reprise::debugger {
namespace {

// At 1x.
constexpr float kMaxCell = 18, kMinTable = 180, kColumnWidth = 88, kLineWidth = 56;
constexpr std::size_t kMaxColumns = 32;  // of numbers at a time

Colour colour_of(ValueKind kind) {
  constexpr Colour kColours[] = {Colour::text, Colour::nan, Colour::infinite, Colour::dim};
  return kColours[static_cast<std::size_t>(kind)];
}

ImU32 colour_of(const Ui& ui, const HeatMap& map, const HeatCell& cell) {
  return cell.kind == ValueKind::number ? signed_colour(ui.theme(), heat_of(map, cell.value))
                                        : ui.colour(colour_of(cell.kind));
}

std::string kind_text(ValueKind kind, std::size_t count) {
  constexpr const char* kNames[] = {"numbers", "NaN", "infinite", "denormal"};
  return count_text(count) + " " + kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

void TensorValuesView::refresh(const TensorValues& values, std::uint64_t revision) {
  const bool same_shape = dims_ == values.dims;
  if (!same_shape) {
    dims_ = values.dims;
    index_.assign(dims_.size() < 2 ? 0 : dims_.size() - 2, 0);
    first_column_ = 0;
  }
  const ValueMatrix matrix = matrix_of(dims_, index_);
  if (same_shape && revision == revision_ && matrix == matrix_) {
    return;
  }
  first_not_finite_ = first_not_finite(values);
  revision_ = revision;
  matrix_ = matrix;
  map_ = make_heat_map(values, matrix_);
  std::fill(std::begin(kinds_), std::end(kinds_), 0U);
  for (std::size_t i = 0; i < matrix_.count; ++i) {
    const auto kind = static_cast<std::size_t>(values.kind(matrix_.first + i));
    ++kinds_[kind];
  }
}

bool TensorValuesView::draw(Ui& ui, Rows& rows, const TensorValues& values, std::uint64_t revision,
                            float height) {
  refresh(values, revision);
  const float top = ImGui::GetCursorScreenPos().y;
  draw_slices(ui, rows, values);
  draw_first_not_finite(ui, rows, values);
  if (matrix_.count == 0) {
    ui.text_in("none", rows.next(), "It has no elements.", {.colour = Colour::dim});
    return false;
  }
  const float side = std::min(
      {rows.width() / static_cast<float>(map_.columns),
       std::max(height * 0.45F, ui.px(120)) / static_cast<float>(map_.lines), ui.px(kMaxCell)});
  const Box place = rows.next(std::max(side * static_cast<float>(map_.lines), 1.0F));
  draw_map(ui, {place.min, {place.min.x + side * static_cast<float>(map_.columns), place.max.y}},
           values);
  rows.gap(4);
  draw_scale(ui, rows.next());
  rows.gap(4);
  if (matrix_.columns > kMaxColumns) {
    draw_columns_choice(ui, rows.next());
    rows.gap(2);
  }
  const float left = height - (ImGui::GetCursorScreenPos().y - top) - ui.px(8);
  const float wanted = ui.row_height() * static_cast<float>(matrix_.lines() + 1) + ui.px(12);
  draw_numbers(ui, rows.next(std::min(wanted, std::max(left, ui.px(kMinTable)))), values);
  return std::exchange(menu_, false);
}

/// A click leads there.
void TensorValuesView::draw_first_not_finite(Ui& ui, Rows& rows, const TensorValues& values) {
  if (!first_not_finite_) {
    return;
  }
  const std::size_t element = *first_not_finite_;
  if (!link(ui, "first_not_finite", rows.next(),
            "first " + value_text(values.values[element]) + " at " + element_text(dims_, element),
            {.colour = colour_of(values.kind(element))})) {
    return;
  }
  std::size_t left = element / std::max<std::size_t>(matrix_.count, 1);
  for (std::size_t d = index_.size(); d-- > 0; left /= dims_[d]) {
    index_[d] = left % dims_[d];
  }
  const std::size_t at = element % matrix_.count;
  table_.scroll_to = at / matrix_.columns;
  first_column_ = at % matrix_.columns / kMaxColumns * kMaxColumns;
}

void TensorValuesView::draw_slices(Ui& ui, Rows& rows, const TensorValues& values) {
  const auto scope = ui.scope("slice");
  std::string shape;
  for (const std::size_t dim : values.dims) {
    shape += (shape.empty() ? "" : " x ") + std::to_string(dim);
  }
  const Box row = rows.next();
  ui.text_in("matrix", row,
             std::string(name_of(values.dtype)) + "  " + shape + "  " + matrix_text(dims_, index_),
             {.font = FontKind::mono, .colour = Colour::dim});
  for (std::size_t d = 0; d < index_.size(); ++d) {
    if (dims_[d] < 2) {
      continue;
    }
    const auto own = ui.scope(d);
    const Box line = rows.next();
    ImGui::SetCursorScreenPos(line.min);
    if (ui.button("less", "-", index_[d] > 0)) {
      --index_[d];
    }
    ImGui::SetCursorScreenPos({line.min.x + ui.px(28), line.min.y});
    if (ui.button("more", "+", index_[d] + 1 < dims_[d])) {
      ++index_[d];
    }
    ui.text_in("at", {{line.min.x + ui.px(60), line.min.y}, line.max},
               "dimension " + std::to_string(d) + ": " + std::to_string(index_[d]) + " of " +
                   std::to_string(dims_[d]),
               {});
    ImGui::SetCursorScreenPos({line.min.x, line.max.y});
  }
}

void TensorValuesView::draw_map(Ui& ui, const Box& box, const TensorValues& values) {
  const auto column_width = box.width() / static_cast<float>(map_.columns);
  const auto line_height = box.height() / static_cast<float>(map_.lines);
  const float gap = column_width > ui.px(6) && line_height > ui.px(6) ? 1.0F : 0.0F;
  for (std::size_t l = 0; l < map_.lines; ++l) {
    for (std::size_t c = 0; c < map_.columns; ++c) {
      if (l * map_.lines_each * matrix_.columns + c * map_.columns_each >= matrix_.count) {
        break;  // the last line may be shorter
      }
      const ImVec2 min{std::floor(box.min.x + static_cast<float>(c) * column_width),
                       std::floor(box.min.y + static_cast<float>(l) * line_height)};
      const ImVec2 max{std::floor(box.min.x + static_cast<float>(c + 1) * column_width) - gap,
                       std::floor(box.min.y + static_cast<float>(l + 1) * line_height) - gap};
      ui.fill({min, max}, colour_of(ui, map_, map_.cells[l * map_.columns + c]));
    }
  }
  const Hit hit = ui.hit(
      "map", box, std::to_string(map_.lines) + " x " + std::to_string(map_.columns) + " cells");
  menu_ = menu_ || hit.right_clicked;
  if (!hit.hovered) {
    return;
  }
  const ImVec2 mouse = ImGui::GetMousePos();
  const std::size_t l = std::min(
      static_cast<std::size_t>(std::max(mouse.y - box.min.y, 0.0F) / line_height), map_.lines - 1);
  const std::size_t c =
      std::min(static_cast<std::size_t>(std::max(mouse.x - box.min.x, 0.0F) / column_width),
               map_.columns - 1);
  const std::size_t line = l * map_.lines_each, column = c * map_.columns_each;
  const std::size_t element = line * matrix_.columns + column;
  if (element >= matrix_.count) {
    return;
  }
  const HeatCell& under = map_.cells[l * map_.columns + c];
  const bool one = map_.lines_each * map_.columns_each == 1;
  ui.tooltip("element " + count_text(matrix_.first + element) + ", line " + count_text(line) +
             ", column " + count_text(column) + "\n" +
             (one ? ""
                  : "furthest from zero of " + std::to_string(map_.lines_each) + " x " +
                        std::to_string(map_.columns_each) + ": ") +
             value_text(one ? values.values[matrix_.first + element] : under.value));
  if (hit.clicked) {
    table_.scroll_to = line;
    first_column_ = column / kMaxColumns * kMaxColumns;
  }
}

void TensorValuesView::draw_scale(Ui& ui, const Box& box) {
  const std::string end = value_text(map_.furthest);
  const float label = ui.text_size("-" + end, FontKind::mono).x + ui.px(6);
  const float bar = std::min(ui.px(120), box.width() * 0.3F);
  float x = box.min.x;
  const auto text = [&](std::string_view id, const std::string& what, float width, Colour colour) {
    const Box place{{x, box.min.y}, {std::min(x + width, box.max.x), box.max.y}};
    ui.text_in(id, place, what, {.font = FontKind::mono, .colour = colour});
    x += width;
  };
  if (map_.furthest > 0) {
    text("", "-" + end, label, Colour::dim);
    constexpr int kPieces = 24;
    const float middle = (box.min.y + box.max.y) / 2, half = ui.px(5);
    for (int p = 0; p < kPieces; ++p) {
      const float at = x + bar * static_cast<float>(p) / kPieces;
      ui.fill({{std::floor(at), middle - half}, {std::floor(at + bar / kPieces), middle + half}},
              signed_colour(ui.theme(), 2.0 * (p + 0.5) / kPieces - 1));
    }
    x += bar + ui.px(6);
    text("scale", end, label, Colour::dim);
  }
  for (const ValueKind kind : {ValueKind::nan, ValueKind::infinite, ValueKind::denormal}) {
    const std::size_t count = kinds_[static_cast<std::size_t>(kind)];
    if (count > 0 && x < box.max.x) {
      x += ui.px(10);
      const std::string what = kind_text(kind, count);
      constexpr const char* kIds[] = {"", "nan", "infinite", "denormal"};
      text(kIds[static_cast<std::size_t>(kind)], what,
           ui.text_size(what, FontKind::mono).x + ui.px(2), colour_of(kind));
    }
  }
}

void TensorValuesView::draw_columns_choice(Ui& ui, const Box& box) {
  const auto scope = ui.scope("columns");
  const std::size_t end = std::min(first_column_ + kMaxColumns, matrix_.columns);
  ImGui::SetCursorScreenPos(box.min);
  if (ui.button("less", "-", first_column_ > 0)) {
    first_column_ -= kMaxColumns;
  }
  ImGui::SetCursorScreenPos({box.min.x + ui.px(28), box.min.y});
  if (ui.button("more", "+", end < matrix_.columns)) {
    first_column_ += kMaxColumns;
  }
  ui.text_in("at", {{box.min.x + ui.px(60), box.min.y}, box.max},
             "columns " + count_text(first_column_) + " to " + count_text(end - 1) + " of " +
                 count_text(matrix_.columns),
             {});
  ImGui::SetCursorScreenPos({box.min.x, box.max.y});
}

TableCell TensorValuesView::cell(const TensorValues& values, std::size_t line,
                                 std::size_t column) const {
  const std::size_t at = line * matrix_.columns + first_column_ + column;
  if (at >= matrix_.count) {
    return {};
  }
  const std::size_t element = matrix_.first + at;
  return {.text = value_text(values.values[element]), .colour = colour_of(values.kind(element))};
}

void TensorValuesView::draw_numbers(Ui& ui, const Box& box, const TensorValues& values) {
  first_column_ = std::min(first_column_, (matrix_.columns - 1) / kMaxColumns * kMaxColumns);
  std::vector<TableColumn> columns{{"line", "", kLineWidth, Align::right, FontKind::mono, false}};
  const std::size_t shown = std::min(matrix_.columns - first_column_, kMaxColumns);
  for (std::size_t c = 0; c < shown; ++c) {
    const std::string name = std::to_string(first_column_ + c);
    columns.push_back({name, name, kColumnWidth, Align::right, FontKind::mono, false});
  }
  const TableRows rows{.count = matrix_.lines(),
                       .id = [](std::size_t row) { return row; },
                       .cell =
                           [&](std::size_t row, std::size_t column) {
                             return column == 0 ? TableCell{.text = std::to_string(row),
                                                            .colour = Colour::dim}
                                                : cell(values, row, column - 1);
                           }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "numbers", columns, rows, table_, {box.width(), box.height()});
  menu_ = menu_ || events.right_clicked;
  ImGui::SetCursorScreenPos({box.min.x, box.max.y});
}

}  // namespace reprise::debugger
