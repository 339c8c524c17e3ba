#include "backends/vulkan/encoder.h"

#include <algorithm>
#include <string>
#include <typeinfo>
#include <utility>

#include "backends/vulkan/barriers.h"
#include "reprise/core/error.h"

namespace reprise::vulkan {

namespace {

void check_range(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    throw_invalid_argument("A step uses bytes (", offset, " + ", bytes, ") of buffer '",
                           buffer.name(), "', which has ", buffer.bytes(), ".");
  }
}

}  // namespace

VulkanEncoder::VulkanEncoder(const std::shared_ptr<Device>& device,
                             std::shared_ptr<Pipelines> pipelines, const EncoderOptions& options)
    : device_(device),
      pipelines_(std::move(pipelines)),
      encoding_(
          std::make_unique<VulkanEncoding>(device, std::string(options.name), options.reusable)),
      commands_(encoding_->commands()),
      ends_at_host_(options.ends_at_host) {
  if (options.after != nullptr) {
    encoding_->after_ = own(options.after);
  }
  opening_barrier(commands_, options.after != nullptr);
}

VulkanEncoding& VulkanEncoder::open() const {
  if (encoding_ == nullptr) {
    throw_invalid_argument("The encoder is finished; nothing can be encoded any more.");
  }
  return *encoding_;
}

const VulkanTimestamps& VulkanEncoder::own(const std::shared_ptr<Timestamps>& stamps) const {
  const auto* own = dynamic_cast<const VulkanTimestamps*>(stamps.get());
  if (own == nullptr || &own->device() != device_.get()) {
    throw_invalid_argument("The timestamps belong to another device.");
  }
  auto& kept = open().timestamps_;
  if (kept.empty() || kept.back() != stamps) {
    kept.push_back(stamps);
  }
  return *own;
}

std::shared_ptr<VulkanHostSignal> VulkanEncoder::own(
    const std::shared_ptr<HostSignal>& signal) const {
  auto own = std::dynamic_pointer_cast<VulkanHostSignal>(signal);
  if (own == nullptr || &own->device() != device_.get()) {
    throw_invalid_argument("The host signal belongs to another device.");
  }
  return own;
}

void VulkanEncoder::reset(const std::shared_ptr<Timestamps>& stamps) {
  own(stamps).reset(commands_);
}

void VulkanEncoder::stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) {
  if (index >= own(stamps).count()) {
    throw_invalid_argument("Timestamp (", index, ") does not exist; there are ", stamps->count(),
                           ".");
  }
  own(stamps).take(commands_, index);
}

void VulkanEncoder::resolve(const std::shared_ptr<Timestamps>& stamps, std::uint32_t count,
                            const std::shared_ptr<Buffer>& to, std::uint64_t offset) {
  const VulkanTimestamps& from = own(stamps);
  const std::uint64_t bytes = std::uint64_t{count} * sizeof(std::uint64_t);
  if (count > from.count()) {
    throw_invalid_argument("The first (", count, ") timestamps are asked for; there are ",
                           from.count(), ".");
  }
  check_owner(*to);
  check_range(*to, offset, bytes);
  encoding_->uses_.add(to, Access::write);
  from.copy(commands_, count, static_cast<const VulkanBuffer&>(*to).get(), offset);
}

void VulkanEncoder::barrier() {
  open();
  step_barrier(commands_, std::exchange(grids_written_, false));
}

void VulkanEncoder::step(const StepList& steps, std::size_t index,
                         std::span<const std::shared_ptr<Buffer>> pools) {
  open();
  const Step& step = steps[index];
  grids_written_ = grids_written_ || step.writes_grids;
  switch (step.kind) {
    case StepKind::dispatch:
      dispatch(steps, step, pools);
      break;
    case StepKind::copy:
      copy(steps.bindings(step), pools);
      break;
    case StepKind::call:
      throw Error(ErrorCode::unsupported, "The Vulkan backend runs shaders; step (" +
                                              std::to_string(index) + ") is a host call.");
  }
}

void VulkanEncoder::dispatch(const StepList& steps, const Step& step,
                             std::span<const std::shared_ptr<Buffer>> pools) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (step.grid[i] > device_->limits().maxComputeWorkGroupCount[i]) {
      throw_error(ErrorCode::unsupported, "The kernel (", step.kernel.shader,
                  ") is dispatched over (", step.grid[i],
                  ") workgroups, but the device allows at most ",
                  device_->limits().maxComputeWorkGroupCount[i], ".");
    }
  }
  KernelUse& kernel = bind_kernel(step.kernel);
  const Pipeline& pipeline = kernel.pipeline();
  bind_buffers(kernel, steps.bindings(step), pools);
  if (step.byte_count != pipeline.shader.push_bytes) {
    throw_invalid_argument("The kernel (", step.kernel.shader, ") is given (", step.byte_count,
                           ") bytes of push constants; its shader declares ",
                           pipeline.shader.push_bytes, ".");
  }
  if (step.byte_count != 0) {
    vkCmdPushConstants(commands_, pipeline.layout.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       step.byte_count, steps.bytes(step).data());
  }
  if (step.indirect) {
    const Binding& grid = steps.bindings(step).back();
    vkCmdDispatchIndirect(commands_, buffer_of(grid, pools).get(), grid.offset);
  } else {
    vkCmdDispatch(commands_, step.grid[0], step.grid[1], step.grid[2]);
  }
}

KernelUse& VulkanEncoder::bind_kernel(const Kernel& kernel) {
  if (bound_ != nullptr && bound_->pipeline().kernel == kernel) {
    return *bound_;
  }
  std::size_t hash = kernel.shader.size();
  for (std::uint32_t i = 0; i < kernel.constant_count && i < Kernel::kMaxConstants; ++i) {
    hash = hash * 31 + kernel.constants[i];
  }
  KernelUse*& recent = recent_[hash % recent_.size()];
  if (recent == nullptr || recent->pipeline().kernel != kernel) {
    recent = &find_kernel(kernel);
  }
  if (bound_ != recent) {
    bound_ = recent;
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, bound_->pipeline().pipeline.get());
  }
  return *bound_;
}

KernelUse& VulkanEncoder::find_kernel(const Kernel& kernel) {
  auto& kernels = encoding_->kernels_;
  const auto known = std::ranges::find_if(
      kernels, [&](const auto& use) { return use->pipeline().kernel == kernel; });
  if (known != kernels.end()) {
    return **known;
  }
  return *kernels.emplace_back(std::make_unique<KernelUse>(device_, pipelines_->get(kernel)));
}

void VulkanEncoder::bind_buffers(KernelUse& kernel, std::span<const Binding> bindings,
                                 std::span<const std::shared_ptr<Buffer>> pools) {
  const Pipeline& pipeline = kernel.pipeline();
  if (pipeline.bindings.empty()) {
    return;
  }
  descriptors_.resize(pipeline.bindings.size());
  auto descriptor = descriptors_.begin();
  for (const auto& [number, kind] : pipeline.bindings) {
    const bool uniform = kind == ShaderBindingKind::uniform;
    if (number >= bindings.size() || (bindings[number].type == BindingType::uniform) != uniform) {
      throw_invalid_argument("The kernel (", pipeline.kernel.shader, ") declares binding (", number,
                             ") as a ", (uniform ? "uniform" : "storage"), " buffer; the step has ",
                             bindings.size(), " bindings and none of that type there.");
    }
    *descriptor++ = descriptor_of(bindings[number], kind, pools);
  }
  const VkDescriptorSet set = kernel.next_set();
  vkUpdateDescriptorSetWithTemplate(device_->get(), set, pipeline.update.get(),
                                    descriptors_.data());
  vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout.get(), 0, 1,
                          &set, 0, nullptr);
}

Descriptor VulkanEncoder::descriptor_of(const Binding& binding, ShaderBindingKind kind,
                                        std::span<const std::shared_ptr<Buffer>> pools) {
  const VkDescriptorBufferInfo range = range_of(binding, pools);
  return kind == ShaderBindingKind::texels ? Descriptor{.texels = view_of(range)}
                                           : Descriptor{.range = range};
}

VkBufferView VulkanEncoder::view_of(const VkDescriptorBufferInfo& range) {
  VkBufferViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
  info.buffer = range.buffer;
  info.format = kTexelFormat;
  info.offset = range.offset;
  info.range = whole_words(range.range);
  VkBufferView view = VK_NULL_HANDLE;
  device_->check(vkCreateBufferView(device_->get(), &info, nullptr, &view), "vkCreateBufferView");
  encoding_->views_.emplace_back(device_->get(), view);
  return view;
}

VkDescriptorBufferInfo VulkanEncoder::range_of(const Binding& binding,
                                               std::span<const std::shared_ptr<Buffer>> pools) {
  const VulkanBuffer& buffer = buffer_of(binding, pools);
  if (binding.bytes == 0) {
    return {buffer.get(), 0, 4};  // Vulkan has no empty range; the kernel reads nothing of it
  }
  const bool uniform = binding.type == BindingType::uniform;
  const std::uint64_t limit =
      uniform ? device_->limits().maxUniformBufferRange : device_->traits().max_binding_bytes;
  const std::uint64_t misaligned = binding.offset & (device_->traits().binding_alignment - 1U);
  if (binding.bytes > limit || misaligned != 0) {
    throw_error(ErrorCode::unsupported, "A binding of (", binding.bytes, ") bytes at offset (",
                binding.offset, ") is not possible; at most ", limit, " bytes at multiples of ",
                device_->traits().binding_alignment, " are.");
  }
  // Shaders address words: the last one has to be inside the range as a whole.
  return {buffer.get(), binding.offset, std::min(whole_words(binding.bytes), limit)};
}

void VulkanEncoder::check_owner(const Buffer& buffer) const {
  if (typeid(buffer) != typeid(VulkanBuffer) ||
      &static_cast<const VulkanBuffer&>(buffer).device() != device_.get()) {
    throw_invalid_argument("Buffer '", buffer.name(), "' belongs to another device.");
  }
}

const VulkanBuffer& VulkanEncoder::buffer_of(const Binding& binding,
                                             std::span<const std::shared_ptr<Buffer>> pools) {
  if (binding.pool >= pools.size() || pools[binding.pool] == nullptr) {
    throw_invalid_argument("A step uses pool (", binding.pool, "), but ", pools.size(),
                           " pools are given.");
  }
  const Buffer& buffer = *pools[binding.pool];
  if (!encoding_->uses_.has(binding.pool, buffer)) {
    check_owner(buffer);
  }
  check_range(buffer, binding.offset, binding.bytes);
  encoding_->uses_.add(binding.pool, pools[binding.pool], binding.access);
  return static_cast<const VulkanBuffer&>(buffer);
}

void VulkanEncoder::copy(std::span<const Binding> bindings,
                         std::span<const std::shared_ptr<Buffer>> pools) {
  const Binding& from = bindings[0];
  const Binding& to = bindings[1];
  if (from.bytes != to.bytes) {
    throw_invalid_argument("A copy of (", from.bytes, ") bytes has a target of ", to.bytes, ".");
  }
  const VulkanBuffer& source = buffer_of(from, pools);
  const VulkanBuffer& target = buffer_of(to, pools);
  if (from.bytes != 0) {
    const VkBufferCopy region{from.offset, to.offset, from.bytes};
    vkCmdCopyBuffer(commands_, source.get(), target.get(), 1, &region);
  }
}

void VulkanEncoder::begin_label(std::string_view name) {
  open();
  if (labels()) {
    const std::string text(name);
    VkDebugUtilsLabelEXT label{};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
    label.pLabelName = text.c_str();
    device_->debug().begin_label(commands_, &label);
  }
  ++open_labels_;
}

void VulkanEncoder::end_label() {
  open();
  if (open_labels_ == 0) {
    throw_invalid_argument("A label ends that did not begin in this encoding.");
  }
  --open_labels_;
  if (labels()) {
    device_->debug().end_label(commands_);
  }
}

std::unique_ptr<Encoding> VulkanEncoder::finish() {
  open();
  while (open_labels_ != 0) {
    end_label();
  }
  if (ends_at_host_) {
    host_barrier(commands_);
  }
  device_->check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  encoding_->uses_.unpin();
  return std::move(encoding_);
}

}  // namespace reprise::vulkan
