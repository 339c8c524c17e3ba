// The arena of a plan: which bytes hold what during which steps, and how many are in use.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// One place of the arena for a while. Tensors that share it are views of each other, or results
/// written over an operand.
struct MemoryStorage {
  std::uint64_t offset = 0, bytes = 0;          // of the arena
  std::uint32_t first_step = 0, last_step = 0;  // both included
  std::vector<std::uint32_t> tensors;           // ascending, at least one
};

struct MemoryMap {
  std::optional<std::uint32_t> pool;    // the arena; none: the capture has no plan of memory
  std::uint64_t bytes = 0;              // of it
  std::vector<MemoryStorage> storages;  // by first step, then offset
  std::vector<std::optional<std::uint32_t>> storage_of;  // one per tensor of the capture
  /// Bytes in use during each step. Places are rounded up as the planner does it, so the most of
  /// these is the plan's live peak.
  std::vector<std::uint64_t> live;
  std::uint32_t peak_step = 0;  // the first with the most bytes in use
  std::uint64_t peak_bytes = 0;
  std::uint64_t greatest_bytes = 0;  // of a storage
  std::size_t left_out = 0;          // tensors of the arena whose place or steps make no sense
};

MemoryMap make_memory_map(const Capture& capture);

/// What holds memory during a step.
struct LiveTensor {
  std::uint32_t tensor = 0;                // of those that share a place, the first
  std::uint64_t bytes = 0;                 // of the place
  std::string role{};                      // "param", "state"
  std::optional<std::uint32_t> storage{};  // of the map; none outside of the arena
};
/// The places of the arena that live during a step, and the tensors of all other pools, which live
/// as long as the graph: the greatest first.
std::vector<LiveTensor> live_tensors(const Capture& capture, const MemoryMap& map,
                                     std::uint32_t step);
/// Nodes that write any of them or, where none does, as with weights, read it; ascending.
std::vector<std::uint32_t> nodes_of(const Capture& capture, const MemoryMap& map,
                                    std::span<const LiveTensor> live);

/// The storages of the tensors that a node reads or writes, ascending, each once.
std::vector<std::uint32_t> storages_of_node(const Capture& capture, const MemoryMap& map,
                                            std::uint32_t node);

/// The role of its tensors; of several the one that says most: input before activation.
std::string_view role_of(const Capture& capture, const MemoryStorage& storage);

/// What a view shows: steps from left to right, bytes from the bottom up.
struct MemoryView {
  double first_step = 0, steps_per_pixel = 1;
  double first_byte = 0, bytes_per_pixel = 1;
  float width = 0, height = 0;  // pixels
  bool operator==(const MemoryView&) const = default;
};

/// A rectangle in whole pixels of a view, from its upper left.
struct MemoryBox {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
  std::uint32_t storage = 0;
  std::uint32_t count = 1;  // of storages that it stands for
  bool operator==(const MemoryBox&) const = default;
};

/// What of a storage is in sight, at least a pixel wide and high; none if nothing is.
std::optional<MemoryBox> memory_box(const MemoryMap& map, const MemoryView& view,
                                    std::uint32_t storage);

/// Of all storages in sight, in their order. Where many are thinner than a pixel, the greatest
/// stands for all that cover the same pixels.
std::vector<MemoryBox> memory_boxes(const MemoryMap& map, const MemoryView& view);

/// The most bytes in use during the steps of each column of pixels; 0 behind the last step.
std::vector<std::uint64_t> live_columns(const MemoryMap& map, double first_step,
                                        double steps_per_pixel, std::size_t columns);

}  // namespace reprise::debugger
