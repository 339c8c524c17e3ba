// Turns steps into Vulkan commands. It knows bindings, grids and copies, never ops; barriers inside
// an encoding are the caller's, the one at its beginning is made here.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/encoding.h"
#include "reprise/backend/backend.h"

namespace reprise::vulkan {

class VulkanEncoder final : public Encoder {
 public:
  VulkanEncoder(const std::shared_ptr<Device>& device, std::shared_ptr<Pipelines> pipelines,
                const EncoderOptions& options);

  void barrier() override;
  void step(const StepList& steps, std::size_t index,
            std::span<const std::shared_ptr<Buffer>> pools) override;
  void reset(const std::shared_ptr<Timestamps>& stamps) override;
  void stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) override;
  void resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
               const std::shared_ptr<Buffer>& to, std::uint64_t offset) override;
  void begin_label(std::string_view name) override;
  void end_label() override;
  std::unique_ptr<Encoding> finish() override;

 private:
  void dispatch(const StepList& steps, const Step& step,
                std::span<const std::shared_ptr<Buffer>> pools);
  void copy(std::span<const Binding> bindings, std::span<const std::shared_ptr<Buffer>> pools);
  /// Binds the kernel's pipeline unless it is bound.
  KernelUse& bind_kernel(const Kernel& kernel);
  KernelUse& find_kernel(const Kernel& kernel);
  void bind_buffers(KernelUse& kernel, std::span<const Binding> bindings,
                    std::span<const std::shared_ptr<Buffer>> pools);
  Descriptor descriptor_of(const Binding& binding, ShaderBindingKind kind,
                           std::span<const std::shared_ptr<Buffer>> pools);
  VkBufferView view_of(const VkDescriptorBufferInfo& range);
  VkDescriptorBufferInfo range_of(const Binding& binding,
                                  std::span<const std::shared_ptr<Buffer>> pools);
  void check_owner(const Buffer& buffer) const;
  const VulkanBuffer& buffer_of(const Binding& binding,
                                std::span<const std::shared_ptr<Buffer>> pools);
  std::shared_ptr<VulkanHostSignal> own(const std::shared_ptr<HostSignal>& signal) const;
  const VulkanTimestamps& own(const std::shared_ptr<Timestamps>& stamps) const;
  VulkanEncoding& open() const;
  bool labels() const { return device_->debug().begin_label != nullptr; }

  std::shared_ptr<Device> device_;
  std::shared_ptr<Pipelines> pipelines_;
  std::unique_ptr<VulkanEncoding> encoding_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  bool ends_at_host_;
  KernelUse* bound_ = nullptr;
  std::array<KernelUse*, 64> recent_{};  // by hash of the kernel
  std::uint32_t open_labels_ = 0;
  bool grids_written_ = false;  // since the last barrier
  std::vector<Descriptor> descriptors_;
};

}  // namespace reprise::vulkan
