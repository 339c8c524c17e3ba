// Device time between two encodings: a pair of timestamp queries and a host-visible buffer that the
// stopping encoding copies them to. The queries are shared, so encodings keep them alive.
#pragma once
#include <memory>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

class TimerQueries {
 public:
  explicit TimerQueries(std::shared_ptr<Device> device);
  /// Resets both queries and takes the first, when everything before is complete.
  void start(VkCommandBuffer commands) const;
  /// Takes the second and copies both to the host.
  void stop(VkCommandBuffer commands) const;
  std::optional<std::uint64_t> elapsed_ns() const;

 private:
  std::shared_ptr<Device> device_;
  VulkanBuffer results_;
  QueryPoolHandle queries_;
};

class VulkanTimer final : public Timer {
 public:
  /// Without queries if the device cannot time itself.
  explicit VulkanTimer(const std::shared_ptr<Device>& device);
  std::optional<std::uint64_t> elapsed_ns() override;
  const std::shared_ptr<const TimerQueries>& queries() const { return queries_; }

 private:
  std::shared_ptr<const TimerQueries> queries_;
};

}  // namespace reprise::vulkan
