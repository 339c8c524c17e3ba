// Compute pipelines, created at first use and kept: one per shader and specialization constants.
// Layouts come from reflection of the shader, so nothing here knows an op.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipeline_cache.h"
#include "backends/vulkan/set_cache.h"
#include "reprise/backend/run_time_shader.h"
#include "reprise/backend/shader_interface.h"
#include "reprise/backend/step.h"

namespace reprise::vulkan {

struct KernelHash {
  std::size_t operator()(const Kernel& kernel) const;
};

/// Immutable once created, its idle descriptor sets apart.
struct Pipeline {
  Kernel
      kernel;  // its name is the shader table's, which lives as long as the program, or of `added`
  ShaderInterface shader;
  struct Declared {
    std::uint32_t number;
    ShaderBindingKind kind;
  };
  std::vector<Declared> bindings;  // as the shader declares them, in order
  KernelInfo info;
  std::shared_ptr<const RunTimeShader> added;  // null for those built in
  SetLayoutHandle set_layout;
  PipelineLayoutHandle layout;
  UpdateTemplateHandle update;  // takes one Descriptor per binding; null without any
  PipelineHandle pipeline;
  mutable SetCache sets;  // of set_layout, shared by encodings
};

/// All members may be called concurrently. Owned by a shared_ptr.
class Pipelines : public std::enable_shared_from_this<Pipelines> {
 public:
  Pipelines(std::shared_ptr<Device> device, const OpenOptions& options);

  /// Throws invalid_argument for an unknown shader, unsupported if the device cannot run it.
  std::shared_ptr<const Pipeline> get(const Kernel& kernel);
  /// See Backend::add_shader. What is the same as one that is there already shares it.
  std::shared_ptr<const RunTimeShader> add(RunTimeShader shader);
  /// Null if no encoding used the kernel.
  std::shared_ptr<const Pipeline> find(const Kernel& kernel) const;
  KernelCounters counters() const;
  /// Frees idle descriptor sets.
  void trim();

 private:
  /// A shader of add(): its pipelines keep `own`; once the last copy of `given` goes, both do.
  struct Added {
    std::shared_ptr<const RunTimeShader> own;
    std::weak_ptr<const RunTimeShader> given;
  };
  std::shared_ptr<const RunTimeShader> give(const std::shared_ptr<const RunTimeShader>& own);
  void remove(const std::shared_ptr<const RunTimeShader>& own) noexcept;
  std::shared_ptr<const Pipeline> create(const Kernel& kernel, std::span<const std::uint32_t> spirv,
                                         std::shared_ptr<const RunTimeShader> added);
  void require_descriptors(const Kernel& kernel, const ShaderInterface& shader) const;
  void resolve_local_size(const Kernel& kernel, Pipeline& pipeline) const;
  void create_layouts(Pipeline& pipeline);
  void create_template(Pipeline& pipeline);
  void create_pipeline(const Kernel& kernel, Pipeline& pipeline);

  std::shared_ptr<Device> device_;
  PipelineCache cache_;
  mutable std::mutex mutex_;
  std::unordered_map<Kernel, std::shared_ptr<const Pipeline>, KernelHash> pipelines_;
  KernelCounters counters_;
  std::map<std::string, Added, std::less<>> added_;
};

}  // namespace reprise::vulkan
