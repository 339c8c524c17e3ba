// A profiling database of a graph of any size, without a device: what a program leaves behind that
// records a decoder and replays it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "reprise/profile/profile_sink.h"

namespace reprise::bench {

/// Layers of 15 nodes in scopes layer.<i>/attn and layer.<i>/ffn, planned as every recording is.
std::shared_ptr<const RecordedGraph> synthetic_graph(std::size_t nodes, const std::string& name);

/// A device whose ticks are nanoseconds.
DeviceInfo synthetic_device();

/// A synthetic_graph(); every replay is timed per node. Written through the profile's own writer.
void write_synthetic_capture(const std::filesystem::path& path, std::size_t nodes,
                             std::size_t replays);

}  // namespace reprise::bench
