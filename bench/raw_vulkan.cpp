#include "bench/raw_vulkan.h"

#include <algorithm>
#include <cstring>
#include <string>

#define VULKAN_HPP_NO_STRUCT_CONSTRUCTORS
#include <vulkan/vulkan_raii.hpp>

#include "shaders/shader_table.h"

namespace reprise::bench {
namespace {

constexpr std::uint32_t kBindings = 3;
constexpr vk::DeviceSize kTensorBytes = RawChain::kElements * sizeof(float);
constexpr vk::DeviceSize kStride = 256;  // no driver asks for a larger offset alignment
constexpr std::uint64_t kTimeoutNs = 600'000'000'000;

// Regions of the buffer: the start value, the ones, and two that the ops write in turn.
enum Region : std::uint32_t { start, ones, first, second, region_count };

// Mirrors the push block of shaders/binary.comp.
struct Push {
  std::array<std::uint32_t, 4> shape{1, 1, 1, RawChain::kElements};
  std::array<std::uint32_t, 4> y_shape{1, 1, 1, RawChain::kElements};
  std::array<std::uint32_t, 5> x{0, 0, 0, 0, 1};
  std::array<std::uint32_t, 5> y{0, 0, 0, 0, 1};
  std::uint32_t elements = RawChain::kElements;
};

vk::raii::PhysicalDevice find_device(const vk::raii::Instance& instance, const DeviceInfo& like) {
  for (vk::raii::PhysicalDevice& device : instance.enumeratePhysicalDevices()) {
    const vk::PhysicalDeviceProperties p = device.getProperties();
    if (p.vendorID == like.vendor_id && p.deviceID == like.device_id &&
        std::string_view(p.deviceName.data()) == like.name) {
      return std::move(device);
    }
  }
  throw_error(ErrorCode::unsupported, "There is no Vulkan device named (", like.name, ").");
}

std::uint32_t find_queue_family(const vk::raii::PhysicalDevice& device) {
  const std::vector<vk::QueueFamilyProperties> families = device.getQueueFamilyProperties();
  const auto it = std::ranges::find_if(families, [](const vk::QueueFamilyProperties& family) {
    return static_cast<bool>(family.queueFlags & vk::QueueFlagBits::eCompute);
  });
  return static_cast<std::uint32_t>(it - families.begin());
}

bool has_push_descriptors(const vk::raii::PhysicalDevice& device) {
  return std::ranges::any_of(
      device.enumerateDeviceExtensionProperties(), [](const vk::ExtensionProperties& e) {
        return std::string_view(e.extensionName.data()) == VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
      });
}

std::array<vk::DescriptorBufferInfo, kBindings> operands(VkBuffer buffer, std::uint32_t node) {
  const std::uint32_t from = node == 0 ? start : node % 2 == 1 ? first : second;
  const std::uint32_t to = node % 2 == 0 ? first : second;
  return {{{buffer, from * kStride, kTensorBytes},
           {buffer, ones * kStride, kTensorBytes},
           {buffer, to * kStride, kTensorBytes}}};
}

}  // namespace

/// Device, memory and one-off commands.
class RawChain::Gpu {
 public:
  Gpu(const DeviceInfo& like, std::uint32_t chain_nodes, std::uint32_t workgroup);
  vk::raii::Buffer make_buffer(vk::DeviceSize bytes, vk::BufferUsageFlags usage) const;
  vk::raii::DeviceMemory back(const vk::raii::Buffer& buffer, vk::MemoryPropertyFlags wanted) const;
  void submit(vk::CommandBuffer commands);
  void wait() const;
  template <class F>
  void run(F&& record);
  std::vector<float> result();

  std::uint32_t nodes, workgroup_size;
  vk::raii::Context context;
  vk::raii::Instance instance;
  vk::raii::PhysicalDevice physical;
  std::uint32_t family;
  bool push_descriptors;
  vk::raii::Device device{nullptr};
  vk::raii::Queue queue{nullptr};
  vk::raii::Semaphore timeline{nullptr};
  std::uint64_t submitted = 0;
  vk::raii::Buffer data{nullptr}, download{nullptr};
  vk::raii::DeviceMemory data_memory{nullptr}, download_memory{nullptr};
  const float* mapped = nullptr;
};

/// One way of binding: its pipeline, its pools, its command buffer.
struct RawChain::Chain {
  Chain(const Gpu& gpu, RawBinding binding);
  void reset();
  void record(const Gpu& gpu);
  void bind_set(const Gpu& gpu, std::uint32_t node);

  RawBinding how;
  vk::raii::DescriptorSetLayout set_layout{nullptr};
  vk::raii::PipelineLayout layout{nullptr};
  vk::raii::Pipeline pipeline{nullptr};
  vk::raii::DescriptorUpdateTemplate update{nullptr};
  vk::raii::DescriptorPool sets_pool{nullptr};
  vk::raii::CommandPool command_pool{nullptr};
  vk::raii::CommandBuffers buffers{nullptr};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  PFN_vkCmdPushDescriptorSetWithTemplateKHR push_with_template = nullptr;
  std::vector<VkDescriptorSetLayout> layouts;
  std::vector<VkDescriptorSet> sets;
};

RawChain::Gpu::Gpu(const DeviceInfo& like, std::uint32_t chain_nodes, std::uint32_t workgroup)
    : nodes(chain_nodes),
      workgroup_size(workgroup),
      instance([&] {
        const vk::ApplicationInfo application{.apiVersion = VK_API_VERSION_1_3};
        return vk::raii::Instance(context, {.pApplicationInfo = &application});
      }()),
      physical(find_device(instance, like)),
      family(find_queue_family(physical)),
      push_descriptors(has_push_descriptors(physical)) {
  const float priority = 1;
  const vk::DeviceQueueCreateInfo queue_info{
      .queueFamilyIndex = family, .queueCount = 1, .pQueuePriorities = &priority};
  vk::PhysicalDeviceVulkan13Features f13{.synchronization2 = VK_TRUE, .maintenance4 = VK_TRUE};
  const vk::PhysicalDeviceVulkan12Features f12{.pNext = &f13, .timelineSemaphore = VK_TRUE};
  const char* const extension = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
  device = {physical,
            {.pNext = &f12,
             .queueCreateInfoCount = 1,
             .pQueueCreateInfos = &queue_info,
             .enabledExtensionCount = push_descriptors ? 1U : 0U,
             .ppEnabledExtensionNames = &extension}};
  queue = device.getQueue(family, 0);
  const vk::SemaphoreTypeCreateInfo type{.semaphoreType = vk::SemaphoreType::eTimeline};
  timeline = {device, {.pNext = &type}};
  using Usage = vk::BufferUsageFlagBits;
  using Memory = vk::MemoryPropertyFlagBits;
  data = make_buffer(region_count * kStride,
                     Usage::eStorageBuffer | Usage::eTransferSrc | Usage::eTransferDst);
  data_memory = back(data, Memory::eDeviceLocal);
  download = make_buffer(kTensorBytes, Usage::eTransferDst);
  download_memory = back(download, Memory::eHostVisible | Memory::eHostCoherent);
  mapped = static_cast<const float*>(download_memory.mapMemory(0, VK_WHOLE_SIZE));
  run([&](const vk::raii::CommandBuffer& commands) {
    const float one = 1;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &one, sizeof(bits));
    commands.fillBuffer(*data, 0, VK_WHOLE_SIZE, 0);
    const vk::MemoryBarrier between{.srcAccessMask = vk::AccessFlagBits::eTransferWrite,
                                    .dstAccessMask = vk::AccessFlagBits::eTransferWrite};
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer,
                             vk::PipelineStageFlagBits::eTransfer, {}, between, {}, {});
    commands.fillBuffer(*data, ones * kStride, kTensorBytes, bits);
  });
}

vk::raii::Buffer RawChain::Gpu::make_buffer(vk::DeviceSize bytes,
                                            vk::BufferUsageFlags usage) const {
  return {device, {.size = bytes, .usage = usage}};
}

vk::raii::DeviceMemory RawChain::Gpu::back(const vk::raii::Buffer& buffer,
                                           vk::MemoryPropertyFlags wanted) const {
  const vk::MemoryRequirements needs = buffer.getMemoryRequirements();
  const vk::PhysicalDeviceMemoryProperties memory = physical.getMemoryProperties();
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if ((needs.memoryTypeBits >> i & 1U) != 0 &&
        (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
      vk::raii::DeviceMemory result(device, {.allocationSize = needs.size, .memoryTypeIndex = i});
      buffer.bindMemory(*result, 0);
      return result;
    }
  }
  throw Error(ErrorCode::unsupported, "The device has no memory of the kind the baseline needs.");
}

void RawChain::Gpu::submit(vk::CommandBuffer commands) {
  const vk::CommandBufferSubmitInfo buffer{.commandBuffer = commands};
  const vk::SemaphoreSubmitInfo signal{.semaphore = *timeline,
                                       .value = ++submitted,
                                       .stageMask = vk::PipelineStageFlagBits2::eAllCommands};
  queue.submit2(vk::SubmitInfo2{.commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer,
                                .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal});
}

void RawChain::Gpu::wait() const {
  const vk::Result result = device.waitSemaphores(
      {.semaphoreCount = 1, .pSemaphores = &*timeline, .pValues = &submitted}, kTimeoutNs);
  if (result != vk::Result::eSuccess) {
    throw Error(ErrorCode::timeout, "The baseline does not finish within 10 minutes.");
  }
}

template <class F>
void RawChain::Gpu::run(F&& record) {
  const vk::raii::CommandPool pool(device, {.queueFamilyIndex = family});
  const vk::raii::CommandBuffers buffers(device, {.commandPool = *pool, .commandBufferCount = 1});
  buffers[0].begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
  record(buffers[0]);
  buffers[0].end();
  submit(*buffers[0]);
  wait();
}

std::vector<float> RawChain::Gpu::result() {
  run([&](const vk::raii::CommandBuffer& commands) {
    const vk::MemoryBarrier computed{.srcAccessMask = vk::AccessFlagBits::eShaderWrite,
                                     .dstAccessMask = vk::AccessFlagBits::eTransferRead};
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eComputeShader,
                             vk::PipelineStageFlagBits::eTransfer, {}, computed, {}, {});
    const vk::DescriptorBufferInfo last = operands(*data, nodes - 1)[2];
    commands.copyBuffer(*data, *download,
                        vk::BufferCopy{.srcOffset = last.offset, .size = kTensorBytes});
    const vk::MemoryBarrier copied{.srcAccessMask = vk::AccessFlagBits::eTransferWrite,
                                   .dstAccessMask = vk::AccessFlagBits::eHostRead};
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost,
                             {}, copied, {}, {});
  });
  return {mapped, mapped + kElements};
}

RawChain::Chain::Chain(const Gpu& gpu, RawBinding binding) : how(binding) {
  const vk::raii::Device& device = gpu.device;
  std::array<vk::DescriptorSetLayoutBinding, kBindings> bindings;
  std::array<vk::DescriptorUpdateTemplateEntry, kBindings> entries;
  for (std::uint32_t i = 0; i < kBindings; ++i) {
    bindings[i] = {.binding = i,
                   .descriptorType = vk::DescriptorType::eStorageBuffer,
                   .descriptorCount = 1,
                   .stageFlags = vk::ShaderStageFlagBits::eCompute};
    entries[i] = {.dstBinding = i,
                  .descriptorCount = 1,
                  .descriptorType = vk::DescriptorType::eStorageBuffer,
                  .offset = i * sizeof(VkDescriptorBufferInfo)};
  }
  const bool push = how == RawBinding::push;
  set_layout = {device,
                {.flags = push ? vk::DescriptorSetLayoutCreateFlagBits::ePushDescriptorKHR
                               : vk::DescriptorSetLayoutCreateFlags(),
                 .bindingCount = kBindings,
                 .pBindings = bindings.data()}};
  const vk::PushConstantRange range{vk::ShaderStageFlagBits::eCompute, 0, sizeof(Push)};
  layout = {device,
            {.setLayoutCount = 1,
             .pSetLayouts = &*set_layout,
             .pushConstantRangeCount = 1,
             .pPushConstantRanges = &range}};
  if (how != RawBinding::sets) {
    update = {device,
              {.descriptorUpdateEntryCount = kBindings,
               .pDescriptorUpdateEntries = entries.data(),
               .templateType = push ? vk::DescriptorUpdateTemplateType::ePushDescriptorsKHR
                                    : vk::DescriptorUpdateTemplateType::eDescriptorSet,
               .descriptorSetLayout = *set_layout,
               .pipelineBindPoint = vk::PipelineBindPoint::eCompute,
               .pipelineLayout = *layout,
               .set = 0}};
  }
  push_with_template = reinterpret_cast<PFN_vkCmdPushDescriptorSetWithTemplateKHR>(
      device.getProcAddr("vkCmdPushDescriptorSetWithTemplateKHR"));

  const std::span<const std::uint32_t> spirv = shaders::find("binary.add")->spirv;
  const vk::raii::ShaderModule shader(device,
                                      {.codeSize = spirv.size_bytes(), .pCode = spirv.data()});
  const vk::SpecializationMapEntry entry{0, 0, sizeof(std::uint32_t)};
  const vk::SpecializationInfo constants{.mapEntryCount = 1,
                                         .pMapEntries = &entry,
                                         .dataSize = sizeof(std::uint32_t),
                                         .pData = &gpu.workgroup_size};
  pipeline = {device,
              nullptr,
              {.stage = {.stage = vk::ShaderStageFlagBits::eCompute,
                         .module = *shader,
                         .pName = "main",
                         .pSpecializationInfo = &constants},
               .layout = *layout}};
  if (!push) {
    const vk::DescriptorPoolSize size{vk::DescriptorType::eStorageBuffer, gpu.nodes * kBindings};
    sets_pool = {device, {.maxSets = gpu.nodes, .poolSizeCount = 1, .pPoolSizes = &size}};
    layouts.assign(gpu.nodes, *set_layout);
    sets.resize(gpu.nodes);
  }
  command_pool = {device, {.queueFamilyIndex = gpu.family}};
  buffers = {device, {.commandPool = *command_pool, .commandBufferCount = 1}};
  commands = *buffers[0];
}

void RawChain::Chain::bind_set(const Gpu& gpu, std::uint32_t node) {
  const VkDevice device = *gpu.device;
  const auto infos = operands(*gpu.data, node);
  if (how == RawBinding::sets) {
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           *sets_pool, 1, layouts.data()};
    vk::resultCheck(static_cast<vk::Result>(vkAllocateDescriptorSets(device, &info, &sets[node])),
                    "vkAllocateDescriptorSets");
    std::array<VkWriteDescriptorSet, kBindings> writes{};
    for (std::uint32_t i = 0; i < kBindings; ++i) {
      writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      writes[i].dstSet = sets[node];
      writes[i].dstBinding = i;
      writes[i].descriptorCount = 1;
      writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      writes[i].pBufferInfo = reinterpret_cast<const VkDescriptorBufferInfo*>(&infos[i]);
    }
    vkUpdateDescriptorSets(device, kBindings, writes.data(), 0, nullptr);
  } else if (how == RawBinding::templates) {
    vkUpdateDescriptorSetWithTemplate(device, sets[node], *update, infos.data());
  } else {
    push_with_template(commands, *update, *layout, 0, infos.data());
    return;
  }
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, *layout, 0, 1, &sets[node], 0,
                          nullptr);
}

void RawChain::Chain::reset() {
  command_pool.reset();
  if (how != RawBinding::push) {
    sets_pool.reset();
  }
}

void RawChain::Chain::record(const Gpu& gpu) {
  if (how == RawBinding::templates) {
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr,
                                           *sets_pool, gpu.nodes, layouts.data()};
    vk::resultCheck(
        static_cast<vk::Result>(vkAllocateDescriptorSets(*gpu.device, &info, sets.data())),
        "vkAllocateDescriptorSets");
  }
  buffers[0].begin({.flags = vk::CommandBufferUsageFlagBits::eSimultaneousUse});
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, *pipeline);
  const VkMemoryBarrier2 memory{
      VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
      nullptr,
      VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
      VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
      VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
      VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &memory;
  const std::uint32_t groups =
      (static_cast<std::uint32_t>(kElements) + gpu.workgroup_size - 1) / gpu.workgroup_size;
  const Push push;
  for (std::uint32_t node = 0; node < gpu.nodes; ++node) {
    if (node != 0) {
      vkCmdPipelineBarrier2(commands, &dependency);
    }
    bind_set(gpu, node);
    vkCmdPushConstants(commands, *layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), &push);
    vkCmdDispatch(commands, groups, 1, 1);
  }
  buffers[0].end();
}

RawChain::RawChain(const DeviceInfo& like, std::uint32_t nodes, std::uint32_t workgroup_size)
    : gpu_(std::make_unique<Gpu>(like, nodes, workgroup_size)) {
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    const auto binding = static_cast<RawBinding>(i);
    if (binding != RawBinding::push || gpu_->push_descriptors) {
      chains_[i] = std::make_unique<Chain>(*gpu_, binding);
    }
  }
}

RawChain::~RawChain() = default;

bool RawChain::supports(RawBinding binding) const {
  return chains_[static_cast<std::size_t>(binding)] != nullptr;
}

void RawChain::reset(RawBinding binding) { chains_[static_cast<std::size_t>(binding)]->reset(); }

void RawChain::record(RawBinding binding) {
  chains_[static_cast<std::size_t>(binding)]->record(*gpu_);
}

void RawChain::submit(RawBinding binding) {
  gpu_->submit(chains_[static_cast<std::size_t>(binding)]->commands);
}

void RawChain::wait() { gpu_->wait(); }

std::vector<float> RawChain::result() { return gpu_->result(); }

}  // namespace reprise::bench
