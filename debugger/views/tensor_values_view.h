// The values of a tensor as a heat map and, behind it, as numbers.
#pragma once
#include <optional>
#include <vector>

#include "debugger/model/heat_map.h"
#include "debugger/ui/rows.h"
#include "debugger/ui/table.h"

namespace reprise::debugger {

class TensorValuesView {
 public:
  /// `revision` is another number for other values. `height`: what is left for it below the rows.
  /// Returns true if a person asked for the menu of the tensor.
  bool draw(Ui& ui, Rows& rows, const TensorValues& values, std::uint64_t revision, float height);

 private:
  void refresh(const TensorValues& values, std::uint64_t revision);
  void draw_first_not_finite(Ui& ui, Rows& rows, const TensorValues& values);
  void draw_slices(Ui& ui, Rows& rows, const TensorValues& values);
  void draw_map(Ui& ui, const Box& box, const TensorValues& values);
  void draw_scale(Ui& ui, const Box& box);
  void draw_columns_choice(Ui& ui, const Box& box);
  void draw_numbers(Ui& ui, const Box& box, const TensorValues& values);
  TableCell cell(const TensorValues& values, std::size_t line, std::size_t column) const;

  std::uint64_t revision_ = 0;
  std::vector<std::size_t> dims_, index_;  // index_: of the leading dimensions
  ValueMatrix matrix_;
  HeatMap map_;
  std::size_t kinds_[4] = {};  // elements of the matrix by ValueKind
  std::optional<std::size_t> first_not_finite_;
  std::size_t first_column_ = 0;
  TableState table_;
  bool menu_ = false;
};

}  // namespace reprise::debugger
