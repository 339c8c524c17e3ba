#include "backends/vulkan/backend.h"

#include <string>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/encoder.h"
#include "backends/vulkan/timer.h"
#include "backends/vulkan/vulkan_backend.h"

namespace reprise::vulkan {

VulkanBackend::VulkanBackend(std::shared_ptr<Device> device)
    : device_(std::move(device)),
      pipelines_(std::make_shared<Pipelines>(device_)),
      queue_(device_) {}

// Nothing may be destroyed in use; what the wait returns cannot change that any more.
VulkanBackend::~VulkanBackend() { static_cast<void>(vkDeviceWaitIdle(device_->get())); }

std::shared_ptr<Buffer> VulkanBackend::allocate(std::string name, std::uint64_t bytes,
                                                BufferKind kind) {
  auto buffer = std::make_shared<VulkanBuffer>(device_, std::move(name), bytes, kind);
  allocations_.fetch_add(1);
  return buffer;
}

std::unique_ptr<Encoder> VulkanBackend::encoder(const EncoderOptions& options) {
  device_->require_alive();
  return std::make_unique<VulkanEncoder>(device_, pipelines_, options);
}

std::unique_ptr<Timer> VulkanBackend::timer() { return std::make_unique<VulkanTimer>(device_); }

std::uint64_t VulkanBackend::submit(std::span<const Encoding* const> encodings) {
  return queue_.submit(encodings);
}

void VulkanBackend::wait(std::uint64_t submission) { queue_.wait(submission); }

std::optional<KernelInfo> VulkanBackend::kernel_info(const Kernel& kernel) const {
  const std::shared_ptr<const Pipeline> pipeline = pipelines_->find(kernel);
  return pipeline == nullptr ? std::nullopt : std::optional(pipeline->info);
}

std::shared_ptr<Backend> open(std::size_t index, const OpenOptions& options) {
  auto instance = std::make_shared<const Instance>(options.validation, options.log);
  const std::vector<PhysicalDevice> devices = usable_devices(instance->get());
  if (index >= devices.size()) {
    invalid("There is no Vulkan device (" + std::to_string(index) + "); this machine has " +
            std::to_string(devices.size()) + " usable ones.");
  }
  return std::make_shared<VulkanBackend>(
      std::make_shared<Device>(std::move(instance), devices[index], options));
}

std::uint64_t validation_message_count(const Backend& backend) {
  const auto* own = dynamic_cast<const VulkanBackend*>(&backend);
  return own == nullptr ? 0 : own->device().instance().message_count();
}

}  // namespace reprise::vulkan
