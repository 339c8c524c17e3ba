// The number of every node that colours of the graph can stand for, besides its time.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/node_errors.h"
#include "debugger/model/statistics.h"
#include "debugger/model/workspace.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct NodeValues {
  std::vector<std::optional<double>> values;  // one per node; none is negative
  bool adds_up = false;                       // a scope has the sum of its nodes, or the greatest
  bool logarithmic = false;                   // heat is by decades, from 1e-8 to 1
  std::string (*text)(double) = nullptr;
  std::string min, max;  // ends of the legend; `most` empty: the greatest value of a box
  std::string note;      // about all of it; empty if there is nothing to say
  std::string missing;   // why there are no values, and what would give some

  bool known() const { return missing.empty(); }
  /// Of nodes [first, first + count).
  std::optional<double> of(std::uint32_t first, std::uint32_t count) const;
  /// 0 to 1, if `greatest` is the hottest.
  double heat_of(double value, double greatest) const;
};

/// For every ColourBy but time and op. `errors` may be null: they are not read yet.
NodeValues node_values(ColourBy by, const Capture& capture, const CaptureStatistics& statistics,
                       const NodeErrors* errors);

/// "time", "op", "error", "memory", "variance", "critical path".
const char* name_of(ColourBy by);
inline constexpr std::size_t kColourings = 6;
ColourBy after(ColourBy by);

}  // namespace reprise::debugger
