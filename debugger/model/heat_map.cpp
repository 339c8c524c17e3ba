#include "debugger/model/heat_map.h"

#include <algorithm>
#include <cmath>

namespace reprise::debugger {
namespace {

int rank_of(ValueKind kind) {
  return kind == ValueKind::nan ? 2 : kind == ValueKind::infinite ? 1 : 0;
}

bool says_more(const HeatCell& a, const HeatCell& b) {
  const int rank_a = rank_of(a.kind), rank_b = rank_of(b.kind);
  return rank_a != rank_b ? rank_a > rank_b
                          : a.kind != ValueKind::nan && std::abs(a.value) > std::abs(b.value);
}

}  // namespace

HeatMap make_heat_map(const TensorValues& values, const ValueMatrix& matrix) {
  HeatMap map;
  const auto each = [](std::size_t size) {
    return std::max<std::size_t>((size + kMaxHeatCells - 1) / kMaxHeatCells, 1);
  };
  const std::size_t columns = std::min(matrix.columns, matrix.count);
  map.lines_each = each(matrix.lines());
  map.columns_each = each(columns);
  map.lines = (matrix.lines() + map.lines_each - 1) / map.lines_each;
  map.columns = (columns + map.columns_each - 1) / map.columns_each;
  map.cells.resize(map.lines * map.columns);
  for (std::size_t i = 0; i < matrix.count; ++i) {
    const std::size_t line = i / matrix.columns / map.lines_each;
    const std::size_t column = i % matrix.columns / map.columns_each;
    HeatCell& cell = map.cells[line * map.columns + column];
    const HeatCell found{values.values[matrix.first + i], values.kind(matrix.first + i)};
    if (says_more(found, cell)) {
      cell = found;
    }
    if (rank_of(found.kind) == 0) {
      map.furthest = std::max(map.furthest, std::abs(found.value));
    }
  }
  return map;
}

double heat_of(const HeatMap& map, double value) {
  return map.furthest > 0 ? std::clamp(value / map.furthest, -1.0, 1.0) : 0;
}

}  // namespace reprise::debugger
