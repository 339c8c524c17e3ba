// A matrix of values as few cells that can be looked at.
#pragma once
#include "debugger/model/tensor_values.h"

namespace reprise::debugger {

/// At most so many cells along a side.
inline constexpr std::size_t kMaxHeatCells = 128;

struct HeatCell {
  /// Of the elements that it stands for the one furthest from zero; of one with a NaN or, failing
  /// that, an infinity: that.
  double value = 0;
  ValueKind kind = ValueKind::number;
};

struct HeatMap {
  std::size_t lines = 0, columns = 0;            // of cells
  std::size_t lines_each = 1, columns_each = 1;  // of the matrix, that a cell stands for
  std::vector<HeatCell> cells;                   // by lines
  double furthest = 0;                           // from zero, of finite cells
};

HeatMap make_heat_map(const TensorValues& values, const ValueMatrix& matrix);

/// Where a value lies between -1, as far below zero as any, and 1; 0 if all are zero.
double heat_of(const HeatMap& map, double value);

}  // namespace reprise::debugger
