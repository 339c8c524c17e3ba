// Port: a named tensor that crosses between host and device.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "reprise/core/tensor.h"

namespace reprise {

struct Port {
  std::string name;
  TensorSpec spec;                    // with an extent: the shape of the bucket
  std::uint32_t tensor = 0xFFFFFFFF;  // row of ComputeGraph::tensors
};

/// Returns the index of a port in a list.
/// Errors: unknown_name, with all names: "The graph 'decode' has no input (y); ...".
std::uint32_t index_of(std::span<const Port> ports, std::string_view owner, std::string_view kind,
                       std::string_view name);

}  // namespace reprise
