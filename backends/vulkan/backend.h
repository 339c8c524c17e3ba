// The Backend interface over one Vulkan device: it puts the parts together and has no logic.
#pragma once
#include <atomic>
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/queue.h"
#include "reprise/backend/backend.h"

namespace reprise::vulkan {

class VulkanBackend final : public Backend {
 public:
  VulkanBackend(std::shared_ptr<Device> device, const OpenOptions& options);

  const DeviceInfo& info() const override { return device_->info(); }
  const DeviceTraits& traits() const override { return device_->traits(); }
  const BackendCapabilities& capabilities() const override { return device_->capabilities(); }
  std::shared_ptr<DriverMessages> driver_messages() const override {
    return device_->instance().messages();
  }
  MemoryInfo memory_info() const override { return device_->memory_info(); }
  std::shared_ptr<Buffer> allocate(std::string name, std::uint64_t bytes, BufferKind kind,
                                   MemoryPurpose purpose) override;
  std::shared_ptr<Buffer> import(std::string name, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) override;
  void free(const std::shared_ptr<Buffer>& buffer) override;
  std::uint64_t free_count() const override { return queue_.free_count(); }
  void release_freed() override { queue_.release_freed(); }
  std::uint64_t allocation_count() const override { return allocations_.load(); }
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override;
  std::shared_ptr<Timestamps> timestamps(std::uint32_t count) override;
  std::shared_ptr<HostSignal> host_signal() override;
  void raise(const std::shared_ptr<HostSignal>& signal) override;
  std::optional<ClockSample> clock() override { return device_->clock(); }
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) override;
  bool complete(std::uint64_t submission) override { return queue_.complete(submission); }
  std::uint64_t completed() override { return queue_.completed(); }
  void wait(std::uint64_t submission) override { queue_.wait(submission); }
  std::uint64_t last_submission() override { return queue_.last_submission(); }
  std::uint64_t last_use(const Buffer& buffer, Access access) override;
  bool copy_aside(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
                  const std::shared_ptr<Buffer>& to, std::uint64_t bytes) override;
  std::shared_ptr<const RunTimeShader> add_shader(const ShaderSource& source) override;
  std::optional<KernelInfo> kernel_info(const Kernel& kernel) const override;
  KernelCounters kernel_counters() const override { return pipelines_->counters(); }
  Support support(const StepList& steps, std::size_t index) const override;
  void shutdown() override { queue_.shutdown(); }
  void trim() override;

  const Device& device() const { return *device_; }

 private:
  void require_own(const Buffer& buffer) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<Pipelines> pipelines_;
  Queue queue_;
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace reprise::vulkan
