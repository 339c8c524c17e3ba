// The driver's cache of compiled pipelines, kept in a file between runs if one is named.
#pragma once
#include <filesystem>
#include <memory>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipeline_cache_file.h"

namespace reprise::vulkan {

/// Reads the file at once; writes it when destroyed, if there is more than was read. What goes
/// wrong with it is logged. Not thread-safe, but get() may be called concurrently.
class PipelineCache {
 public:
  PipelineCache(std::shared_ptr<Device> device, const OpenOptions& options);
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;
  ~PipelineCache();

  VkPipelineCache get() const { return cache_.get(); }

 private:
  VkResult create(std::span<const std::byte> data);
  void save() const;
  void warn(const std::string& what) const;

  std::shared_ptr<Device> device_;
  LogCallback log_;
  CacheOwner owner_;
  std::filesystem::path path_;  // empty: in memory only
  std::uint64_t loaded_bytes_ = 0;
  PipelineCacheHandle cache_;
};

}  // namespace reprise::vulkan
