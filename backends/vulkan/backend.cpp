#include "backends/vulkan/backend.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <xxhash.h>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/check_spirv.h"
#include "backends/vulkan/compile_glsl.h"
#include "backends/vulkan/encoder.h"
#include "backends/vulkan/timestamps.h"
#include "backends/vulkan/vulkan_backend.h"

namespace reprise::vulkan {

namespace {

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

VulkanBackend::VulkanBackend(std::shared_ptr<Device> device, const OpenOptions& options)
    : Backend(device->life(), device->memory()),
      device_(std::move(device)),
      pipelines_(std::make_shared<Pipelines>(device_, options)),
      queue_(device_, device_->read_queue()) {}

std::shared_ptr<Buffer> VulkanBackend::allocate(std::string name, std::uint64_t bytes,
                                                BufferKind kind, MemoryPurpose purpose) {
  auto buffer = std::make_shared<VulkanBuffer>(device_, std::move(name), bytes, kind, purpose);
  allocations_.fetch_add(1);
  return buffer;
}

std::shared_ptr<Buffer> VulkanBackend::import(std::string name, std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner) {
  device_->require_ready();
  auto imported = import_host_memory(*device_, name, bytes, std::move(owner));
  return imported ? std::make_shared<VulkanBuffer>(device_, std::move(name), bytes.size(),
                                                   *std::move(imported))
                  : nullptr;
}

void VulkanBackend::require_own(const Buffer& buffer) const {
  const auto* own = dynamic_cast<const VulkanBuffer*>(&buffer);
  if (own == nullptr || &own->device() != device_.get()) {
    throw_invalid_argument("Buffer '", buffer.name(), "' belongs to another device.");
  }
}

void VulkanBackend::free(const std::shared_ptr<Buffer>& buffer) {
  require_own(*buffer);
  queue_.free(buffer);
}

std::uint64_t VulkanBackend::last_use(const Buffer& buffer, Access access) {
  require_own(buffer);
  return queue_.last_use(buffer, access);
}

bool VulkanBackend::copy_aside(const std::shared_ptr<Buffer>& from, std::uint64_t offset,
                               const std::shared_ptr<Buffer>& to, std::uint64_t bytes) {
  require_own(*from);
  require_own(*to);
  return queue_.copy_aside(std::static_pointer_cast<const VulkanBuffer>(from), offset,
                           std::static_pointer_cast<const VulkanBuffer>(to), bytes);
}

std::unique_ptr<Encoder> VulkanBackend::encoder(const EncoderOptions& options) {
  device_->require_ready();
  return std::make_unique<VulkanEncoder>(device_, pipelines_, options);
}

std::shared_ptr<Timestamps> VulkanBackend::timestamps(std::uint32_t count) {
  device_->require_ready();
  if (device_->info().timestamp_valid_bits == 0) {
    return nullptr;
  }
  return std::make_shared<VulkanTimestamps>(device_, count);
}

std::shared_ptr<HostSignal> VulkanBackend::host_signal() {
  device_->require_ready();
  return std::make_shared<VulkanHostSignal>(device_);
}

void VulkanBackend::raise(const std::shared_ptr<HostSignal>& signal) {
  auto* own = dynamic_cast<VulkanHostSignal*>(signal.get());
  if (own == nullptr || &own->device() != device_.get()) {
    throw_invalid_argument("The host signal belongs to another device.");
  }
  own->raise();
}

std::uint64_t VulkanBackend::submit(std::span<const EncodingRef> encodings,
                                    AfterSubmit /*follow*/) {
  return queue_.submit(encodings);
}

std::shared_ptr<const RunTimeShader> VulkanBackend::add_shader(const ShaderSource& source) {
  device_->require_ready();
  RunTimeShader shader;
  shader.glsl = source.glsl;
  shader.spirv = checked_spirv(source, source.spirv.empty() ? compile_glsl(source) : source.spirv);
  shader.interface = reflect_spirv(shader.spirv);
  shader.hash = XXH3_64bits(shader.spirv.data(), shader.spirv.size() * sizeof(std::uint32_t));
  shader.name = "kernel:" + source.name + ":" + hex(shader.hash);
  std::ranges::copy(device_->limits().maxComputeWorkGroupCount, shader.max_groups.begin());
  return pipelines_->add(std::move(shader));
}

std::optional<KernelInfo> VulkanBackend::kernel_info(const Kernel& kernel) const {
  const std::shared_ptr<const Pipeline> pipeline = pipelines_->find(kernel);
  return pipeline == nullptr ? std::nullopt : std::optional(pipeline->info);
}

Support VulkanBackend::support(const StepList& steps, std::size_t index) const {
  const Step& step = steps[index];
  if (step.kind == StepKind::call) {
    return {SupportKind::unsupported, "it is a host function, and Vulkan runs shaders"};
  }
  try {
    if (step.kind == StepKind::dispatch) {
      pipelines_->get(step.kernel);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) {
      throw;
    }
    return {SupportKind::unsupported, error.what()};
  }
  return {};
}

void VulkanBackend::trim() {
  pipelines_->trim();
  device_->command_pools().trim();
}

std::shared_ptr<Backend> open(std::size_t index, const OpenOptions& options) {
  auto instance = std::make_shared<const Instance>(options.validation, options.log);
  const std::vector<PhysicalDevice> devices = usable_devices(instance->get());
  if (index >= devices.size()) {
    throw_invalid_argument("There is no Vulkan device (", index, "); this machine has ",
                           devices.size(), " usable ones.");
  }
  return std::make_shared<VulkanBackend>(
      std::make_shared<Device>(std::move(instance), devices[index], options), options);
}

std::uint64_t validation_message_count(const Backend& backend) {
  const auto* own = dynamic_cast<const VulkanBackend*>(&backend);
  return own == nullptr ? 0 : own->device().instance().message_count();
}

}  // namespace reprise::vulkan
