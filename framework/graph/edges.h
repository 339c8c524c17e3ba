// Data dependencies between nodes, computed on demand for export, debugger and passes.
#pragma once
#include <vector>

#include "reprise/graph/execution_plan.h"

namespace reprise {

struct Edge {
  std::uint32_t src = 0, dst = 0;  // nodes, src before dst
  std::uint32_t tensor = 0;        // as dst uses it
  HazardKind kind = HazardKind::raw;
  bool operator==(const Edge&) const = default;
};

/// What two accesses to one place are, at least one of which writes.
inline HazardKind hazard_kind(Access before, Access after) {
  return !writes(before) ? HazardKind::war : reads(after) ? HazardKind::raw : HazardKind::waw;
}

/// The direct dependencies: a later write hides earlier accesses of the same bytes. In order of
/// dst, then src.
std::vector<Edge> edges_of(const ComputeGraph& graph);

}  // namespace reprise
