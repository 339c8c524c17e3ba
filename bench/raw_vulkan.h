// The baseline: a chain of the same tiny ops in plain Vulkan, as one writes it by hand for this one
// job. No checks, no graph, no memory plan.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "reprise/backend/backend.h"

namespace reprise::bench {

/// How an op's three buffers are bound.
enum class RawBinding : std::uint8_t {
  sets,       // a descriptor set per op: allocated, updated, bound
  templates,  // all sets allocated in one call, updated through a template, bound
  push,       // VK_KHR_push_descriptor with a template
};
inline constexpr std::array<std::string_view, 3> kRawBindings{"sets", "templates", "push"};

/// x -> x + 1 -> x + 1 + 1 ..., starting with zeros: `nodes` dependent dispatches with a memory
/// barrier before each but the first. Pools are made once, for all recordings.
class RawChain {
 public:
  // One workgroup of a software driver: what it spends on more would hide the cost of the op.
  static constexpr std::int64_t kElements = 8;

  /// On the Vulkan device that `like` describes. Throws unsupported if it is not there.
  RawChain(const DeviceInfo& like, std::uint32_t nodes, std::uint32_t workgroup_size);
  RawChain(const RawChain&) = delete;
  RawChain& operator=(const RawChain&) = delete;
  ~RawChain();

  /// False if the device cannot bind that way; the other members must not be used with it then.
  bool supports(RawBinding binding) const;
  /// Forgets what was recorded: resets the pools.
  void reset(RawBinding binding);
  /// Records the whole chain into a reusable command buffer; reset() comes before each further one.
  void record(RawBinding binding);
  void submit(RawBinding binding);
  void wait();
  /// What the last submission computed.
  std::vector<float> result();

 private:
  struct Chain;
  class Gpu;
  std::unique_ptr<Gpu> gpu_;
  std::array<std::unique_ptr<Chain>, kRawBindings.size()> chains_;
};

}  // namespace reprise::bench
