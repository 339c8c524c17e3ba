// A recorded decoder of any size, without a device.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "framework/profile/profile_sink.h"

namespace reprise::bench {

/// Layers of 15 nodes in scopes layer.<i>/attn and layer.<i>/ffn, planned as every recording is.
std::shared_ptr<const ExecutionPlan> synthetic_graph(std::size_t nodes, const std::string& name);

/// A device whose ticks are nanoseconds.
DeviceInfo synthetic_device();

/// How long a node of a synthetic_graph() takes, more or less.
std::uint64_t synthetic_ns(const Node& node);

}  // namespace reprise::bench
