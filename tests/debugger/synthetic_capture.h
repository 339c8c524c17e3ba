// Captures made without a file, for the debugger's tests and its bench.
#pragma once
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::testing {

/// A capture of these (scope, op), each reading what the one before it wrote and a weight of its
/// own; one step per node, a barrier before each but the first.
Capture chain_capture(const std::vector<std::pair<std::string, std::string>>& nodes);

/// A decoder of `layers` times 19 ops with residual edges, and a node before and two after them.
Capture decoder_capture(std::size_t layers);

}  // namespace reprise::testing
