// Rows of a table that rows of values go to: those of ids, from a position on, or in a ring.
#pragma once
#include "backends/cpu/kernel.h"

namespace reprise::cpu {

struct TableRows {
  std::int64_t rows, capacity;  // of the values, of the table
  Param<std::int32_t> position, window;
  const std::byte* ids = nullptr;  // null: none
  bool wide_ids = false;           // i64

  /// The row of the table that row r goes to; -1: nowhere.
  std::int64_t of(const Work& work, std::int64_t r) const {
    if (ids != nullptr) {
      const std::int64_t id = wide_ids ? reinterpret_cast<const std::int64_t*>(ids)[r]
                                       : reinterpret_cast<const std::int32_t*>(ids)[r];
      return id < 0 || id >= capacity ? -1 : id;
    }
    const std::int64_t ring_rows = work.value(window);
    const std::int64_t at = std::int64_t{work.value(position)} + r;
    const bool ring = at >= 0 && ring_rows > 0;
    const std::int64_t target = ring ? at % ring_rows : at;
    const bool overwritten = ring && r + ring_rows < rows;
    return target < 0 || target >= capacity || overwritten ? -1 : target;
  }
};

}  // namespace reprise::cpu
