#include "backends/vulkan/pipelines.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "backends/vulkan/features.h"
#include "reprise/core/error.h"
#include "shaders/shader_table.h"

namespace reprise::vulkan {
namespace {

void require_limit(const Kernel& kernel, std::string_view what, std::uint64_t value,
                   std::uint64_t limit) {
  if (value > limit) {
    throw_error(ErrorCode::unsupported, "The kernel (", kernel.shader, ") needs ", what, " (",
                value, "), but the device allows at most ", limit, ".");
  }
}

}  // namespace

std::size_t KernelHash::operator()(const Kernel& kernel) const {
  std::size_t hash = std::hash<std::string_view>{}(kernel.shader);
  for (const std::uint32_t constant : kernel.constants) {
    hash = (hash ^ constant) * 0x9E3779B97F4A7C15U;
  }
  return hash ^ kernel.constant_count;
}

Pipelines::Pipelines(std::shared_ptr<Device> device, const OpenOptions& options)
    : device_(std::move(device)), cache_(device_, options) {}

std::shared_ptr<const Pipeline> Pipelines::get(const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  const auto known = pipelines_.find(kernel);
  if (known != pipelines_.end()) {
    ++counters_.reused;
    return known->second;
  }
  Kernel lasting = kernel;
  std::span<const std::uint32_t> spirv;
  std::shared_ptr<const RunTimeShader> added;
  if (const shaders::Shader* shader = shaders::find(kernel.shader)) {
    lasting.shader = shader->name;
    spirv = shader->spirv;
  } else if (const auto own = added_.find(kernel.shader); own != added_.end()) {
    added = own->second.own;
    lasting.shader = added->name;
    spirv = added->spirv;
  } else {
    throw_invalid_argument("There is no shader named (", kernel.shader, ") in this program.");
  }
  const auto made =
      pipelines_.emplace(lasting, create(lasting, spirv, std::move(added))).first->second;
  ++counters_.created;
  counters_.create_ns += made->info.pipeline_create_ns;
  return made;
}

KernelCounters Pipelines::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void Pipelines::trim() {
  const std::lock_guard lock(mutex_);
  for (const auto& [kernel, pipeline] : pipelines_) {
    pipeline->sets.trim();
  }
}

std::shared_ptr<const RunTimeShader> Pipelines::give(
    const std::shared_ptr<const RunTimeShader>& own) {
  return {own.get(), [all = weak_from_this(), own](const RunTimeShader* /*given*/) {
            if (const auto pipelines = all.lock()) {
              pipelines->remove(own);
            }
          }};
}

std::shared_ptr<const RunTimeShader> Pipelines::add(RunTimeShader shader) {
  auto own = std::make_shared<const RunTimeShader>(std::move(shader));
  std::shared_ptr<const RunTimeShader> given;
  {
    const std::lock_guard lock(mutex_);
    Added& added = added_[own->name];
    given = added.given.lock();
    if (given == nullptr) {
      // Where the last copy went a moment ago, on another thread, its remove() finds this one.
      added.own = own;
      added.given = given = give(own);
    }
  }
  get(Kernel{given->name});  // where it fails, `given` takes the shader away again
  return given;
}

void Pipelines::remove(const std::shared_ptr<const RunTimeShader>& own) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = added_.find(own->name);
  if (found != added_.end() && found->second.own == own) {
    added_.erase(found);
    std::erase_if(pipelines_, [&](const auto& entry) { return entry.first.shader == own->name; });
  }
}

std::shared_ptr<const Pipeline> Pipelines::find(const Kernel& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto known = pipelines_.find(kernel);
  return known == pipelines_.end() ? nullptr : known->second;
}

std::shared_ptr<const Pipeline> Pipelines::create(const Kernel& kernel,
                                                  std::span<const std::uint32_t> spirv,
                                                  std::shared_ptr<const RunTimeShader> added) {
  device_->require_alive();
  const auto start = std::chrono::steady_clock::now();
  auto pipeline = std::make_shared<Pipeline>();
  pipeline->kernel = kernel;
  pipeline->shader = reflect_spirv(spirv);
  pipeline->info.spirv = spirv;
  pipeline->info.push_bytes = pipeline->shader.push_bytes;
  pipeline->info.shared_bytes = pipeline->shader.shared_bytes;
  pipeline->info.source = added == nullptr ? std::string_view() : added->glsl;
  pipeline->added = std::move(added);
  require_supported(pipeline->shader, device_->physical().features, kernel.shader);
  require_limit(kernel, "push constant bytes", pipeline->shader.push_bytes,
                device_->limits().maxPushConstantsSize);
  require_limit(kernel, "bytes of shared memory", pipeline->shader.shared_bytes.value_or(0),
                device_->limits().maxComputeSharedMemorySize);
  require_descriptors(kernel, pipeline->shader);
  resolve_local_size(kernel, *pipeline);
  create_layouts(*pipeline);
  create_template(*pipeline);
  create_pipeline(kernel, *pipeline);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  pipeline->info.pipeline_create_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  return pipeline;
}

void Pipelines::require_descriptors(const Kernel& kernel, const ShaderInterface& shader) const {
  const auto count = [&](ShaderBindingKind kind) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        shader.bindings, [&](const auto& binding) { return binding.second.kind == kind; }));
  };
  const VkPhysicalDeviceLimits& limits = device_->limits();
  require_limit(kernel, "storage buffers", count(ShaderBindingKind::storage),
                limits.maxPerStageDescriptorStorageBuffers);
  require_limit(kernel, "uniform buffers", count(ShaderBindingKind::uniform),
                limits.maxPerStageDescriptorUniformBuffers);
  require_limit(kernel, "texel buffers", count(ShaderBindingKind::texels),
                limits.maxPerStageDescriptorSampledImages);
}

void Pipelines::resolve_local_size(const Kernel& kernel, Pipeline& pipeline) const {
  if (kernel.constant_count > Kernel::kMaxConstants) {
    throw_invalid_argument("The kernel (", kernel.shader, ") has (", kernel.constant_count,
                           ") constants; at most ", Kernel::kMaxConstants, " are allowed.");
  }
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t id = pipeline.shader.local_size_ids[i];
    const std::uint32_t size =
        id < kernel.constant_count ? kernel.constants[id] : pipeline.shader.local_size[i];
    if (size == 0) {
      throw_invalid_argument("The kernel (", kernel.shader,
                             ") has a workgroup size of (0); at least 1 is allowed.");
    }
    require_limit(kernel, "a workgroup size of", size,
                  device_->limits().maxComputeWorkGroupSize[i]);
    pipeline.info.local_size[i] = size;
    invocations *= size;
    require_limit(kernel, "workgroup invocations", invocations,
                  device_->limits().maxComputeWorkGroupInvocations);
  }
}

void Pipelines::create_layouts(Pipeline& pipeline) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  DescriptorCounts counts{};
  for (const auto& [number, binding] : pipeline.shader.bindings) {
    ++counts[static_cast<std::size_t>(binding.kind)];
    pipeline.bindings.push_back({number, binding.kind});
    bindings.push_back(
        {number, descriptor_type(binding.kind), 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  }
  const VkDescriptorSetLayoutCreateInfo set_info{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0,
      static_cast<std::uint32_t>(bindings.size()), bindings.data()};
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  device_->check(vkCreateDescriptorSetLayout(device_->get(), &set_info, nullptr, &set_layout),
                 "vkCreateDescriptorSetLayout");
  pipeline.set_layout = {device_->get(), set_layout};
  pipeline.sets.open(set_layout, counts);

  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  (pipeline.shader.push_bytes + 3) / 4 * 4};
  const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                        nullptr,
                                        0,
                                        1,
                                        &set_layout,
                                        range.size == 0 ? 0U : 1U,
                                        &range};
  VkPipelineLayout layout = VK_NULL_HANDLE;
  device_->check(vkCreatePipelineLayout(device_->get(), &info, nullptr, &layout),
                 "vkCreatePipelineLayout");
  pipeline.layout = {device_->get(), layout};
}

void Pipelines::create_template(Pipeline& pipeline) {
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
  for (const auto& [number, kind] : pipeline.bindings) {
    entries.push_back(
        {number, 0, 1, descriptor_type(kind), entries.size() * sizeof(Descriptor), 0});
  }
  if (entries.empty()) {
    return;
  }
  VkDescriptorUpdateTemplateCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO;
  info.descriptorUpdateEntryCount = static_cast<std::uint32_t>(entries.size());
  info.pDescriptorUpdateEntries = entries.data();
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = pipeline.set_layout.get();
  VkDescriptorUpdateTemplate created = VK_NULL_HANDLE;
  device_->check(vkCreateDescriptorUpdateTemplate(device_->get(), &info, nullptr, &created),
                 "vkCreateDescriptorUpdateTemplate");
  pipeline.update = {device_->get(), created};
}

void Pipelines::create_pipeline(const Kernel& kernel, Pipeline& pipeline) {
  const VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr,
                                             0, pipeline.info.spirv.size_bytes(),
                                             pipeline.info.spirv.data()};
  VkShaderModule created = VK_NULL_HANDLE;
  device_->check(vkCreateShaderModule(device_->get(), &module_info, nullptr, &created),
                 "vkCreateShaderModule");
  const ShaderModuleHandle shader_module(device_->get(), created);

  std::array<VkSpecializationMapEntry, Kernel::kMaxConstants> entries{};
  for (std::uint32_t i = 0; i < kernel.constant_count; ++i) {
    entries[i] = {i, i * 4, 4};
  }
  const VkSpecializationInfo constants{kernel.constant_count, entries.data(),
                                       std::size_t{kernel.constant_count} * 4,
                                       kernel.constants.data()};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                nullptr,
                0,
                VK_SHADER_STAGE_COMPUTE_BIT,
                shader_module.get(),
                "main",
                &constants};
  info.layout = pipeline.layout.get();
  VkPipeline result = VK_NULL_HANDLE;
  device_->check(vkCreateComputePipelines(device_->get(), cache_.get(), 1, &info, nullptr, &result),
                 "vkCreateComputePipelines for the kernel " + std::string(kernel.shader));
  pipeline.pipeline = {device_->get(), result};
  device_->set_name(VK_OBJECT_TYPE_PIPELINE, result, std::string(kernel.shader));
}

}  // namespace reprise::vulkan
