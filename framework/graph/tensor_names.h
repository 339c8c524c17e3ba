// Readable names for the tensors of a graph: the given one, or the place that produced it.
#pragma once
#include <string>
#include <vector>

#include "reprise/graph/compute_graph.h"

namespace reprise {

/// "layer.3/attn/rms_norm" for a result, "layer.3/attn/matmul.weight" for what no node produced,
/// ".view" behind the source's name for views; "#2" and so on where a name would repeat.
/// One per tensor; empty only for tensors no node uses.
std::vector<std::string> tensor_names(const ComputeGraph& graph);

/// "x", "y", or "state" for the state block read by dynamic attributes.
std::string_view operand_name(const OpDef& op, std::size_t slot);

}  // namespace reprise
