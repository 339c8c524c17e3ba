// The Backend interface over one Vulkan device: it puts the parts together and has no logic.
#pragma once
#include <atomic>
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/queue.h"
#include "reprise/core/backend.h"

namespace reprise::vulkan {

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(std::shared_ptr<Device> device);
  VulkanBackend(const VulkanBackend&) = delete;
  VulkanBackend& operator=(const VulkanBackend&) = delete;
  ~VulkanBackend() override;

  const DeviceInfo& info() const override { return device_->info(); }
  const DeviceTraits& traits() const override { return device_->traits(); }
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind) override;
  std::uint64_t allocation_count() const override { return allocations_.load(); }
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override;
  std::unique_ptr<Timer> timer() override;
  std::uint64_t submit(std::span<const Encoding* const> encodings) override;
  void wait(std::uint64_t submission) override;
  std::optional<KernelInfo> kernel_info(const Kernel& kernel) const override;

  const Device& device() const { return *device_; }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<Pipelines> pipelines_;
  Queue queue_;
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace reprise::vulkan
