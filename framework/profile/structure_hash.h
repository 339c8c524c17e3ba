// What two recordings of one forward pass have in common on any device, under any names.
#pragma once
#include <span>
#include <string>

#include "reprise/graph/compute_graph.h"
#include "reprise/graph/state_layout.h"

namespace reprise::profile {

/// Covers ops, attributes, scopes, shapes, dtypes, uses and sharing of memory; not names, source
/// lines, the plan or the device.
std::string structure_hash(const ComputeGraph& graph, std::span<const StateFieldInfo> fields);

}  // namespace reprise::profile
