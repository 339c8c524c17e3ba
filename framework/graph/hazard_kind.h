// What kind of hazard two accesses to one place are.
#pragma once
#include "framework/core/op.h"
#include "framework/graph/edges.h"

namespace reprise {

/// At least one of the two writes.
inline HazardKind hazard_kind(Access before, Access after) {
  return !writes(before) ? HazardKind::war : reads(after) ? HazardKind::raw : HazardKind::waw;
}

}  // namespace reprise
