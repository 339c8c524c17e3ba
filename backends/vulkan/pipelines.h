// Compute pipelines, created at first use and kept: one per shader and specialization constants.
// Layouts come from reflection of the shader, so nothing here knows an op.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipeline_cache.h"
#include "backends/vulkan/set_cache.h"
#include "reprise/core/spirv_reflect.h"
#include "reprise/core/step.h"

namespace reprise::vulkan {

struct KernelHash {
  std::size_t operator()(const Kernel& kernel) const;
};

/// Immutable once created, its idle descriptor sets apart.
struct Pipeline {
  Kernel kernel;  // its name is the shader table's, which lives as long as the program
  ShaderInterface shader;
  struct Declared {
    std::uint32_t number;
    ShaderBindingKind kind;
  };
  std::vector<Declared> bindings;  // as the shader declares them, in order
  KernelInfo info;
  SetLayoutHandle set_layout;
  PipelineLayoutHandle layout;
  UpdateTemplateHandle update;  // takes one Descriptor per binding; null without any
  PipelineHandle pipeline;
  mutable SetCache sets;  // of set_layout, shared by encodings
};

/// All members may be called concurrently.
class Pipelines {
 public:
  Pipelines(std::shared_ptr<Device> device, const OpenOptions& options);

  /// Throws invalid_argument for an unknown shader, unsupported if the device cannot run it.
  std::shared_ptr<const Pipeline> get(const Kernel& kernel);
  /// Null if no encoding used the kernel.
  std::shared_ptr<const Pipeline> find(const Kernel& kernel) const;

 private:
  std::shared_ptr<const Pipeline> create(const Kernel& kernel,
                                         std::span<const std::uint32_t> spirv);
  void resolve_local_size(const Kernel& kernel, Pipeline& pipeline) const;
  void create_layouts(Pipeline& pipeline);
  void create_template(Pipeline& pipeline);
  void create_pipeline(const Kernel& kernel, Pipeline& pipeline);

  std::shared_ptr<Device> device_;
  PipelineCache cache_;
  mutable std::mutex mutex_;
  std::unordered_map<Kernel, std::shared_ptr<const Pipeline>, KernelHash> pipelines_;
};

}  // namespace reprise::vulkan
