// In what a node of one graph differs from its like in another.
#pragma once
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// The name of a weight, an input or the state; null for what a node computes, whose name is made
/// up.
const std::string* given_name(const Capture::Tensor& tensor);

/// "eps 1e-5 to 1e-6", "y f32 [1,8] to f16 [1,8]", "table 'keys' to 'values'", "kernel add to
/// add_4", "2 steps to 1"; source lines are none of it. Empty if nothing differs.
std::vector<std::string> node_changes(const Capture& a, std::uint32_t node_a, const Capture& b,
                                      std::uint32_t node_b);

}  // namespace reprise::debugger
