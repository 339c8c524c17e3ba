#include "backends/vulkan/pipeline_cache.h"

#include <algorithm>
#include <string>
#include <vector>

namespace reprise::vulkan {
namespace {

CacheOwner owner_of(const VkPhysicalDeviceProperties& properties) {
  CacheOwner owner{properties.vendorID, properties.deviceID, properties.driverVersion, {}};
  std::copy_n(std::begin(properties.pipelineCacheUUID), owner.uuid.size(), owner.uuid.begin());
  return owner;
}

}  // namespace

PipelineCache::PipelineCache(std::shared_ptr<Device> device, const OpenOptions& options)
    : device_(std::move(device)),
      log_(options.log),
      owner_(owner_of(device_->physical().properties)),
      path_(cache_file_of(options.pipeline_cache, owner_)) {
  if (!path_.empty()) {
    const CacheFile file = load_cache_file(path_, owner_);
    if (!file.refusal.empty()) {
      warn("is not used, because " + file.refusal);
    } else if (!file.data.empty()) {
      if (create(file.data) == VK_SUCCESS) {
        loaded_bytes_ = file.data.size();
        return;
      }
      warn("is not used, because the driver refuses it");
    }
  }
  device_->check(create({}), "vkCreatePipelineCache");
}

PipelineCache::~PipelineCache() {
  if (path_.empty()) {
    return;
  }
  try {
    save();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
  }
}

VkResult PipelineCache::create(std::span<const std::byte> data) {
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  const VkResult result = vkCreatePipelineCache(device_->get(), &info, nullptr, &cache);
  if (result == VK_SUCCESS) {
    cache_ = {device_->get(), cache};
  }
  return result;
}

void PipelineCache::save() const {
  std::size_t size = 0;
  if (vkGetPipelineCacheData(device_->get(), get(), &size, nullptr) != VK_SUCCESS ||
      size <= loaded_bytes_) {
    return;
  }
  std::vector<std::byte> data(size);
  if (vkGetPipelineCacheData(device_->get(), get(), &size, data.data()) != VK_SUCCESS) {
    return;
  }
  const std::string problem = save_cache_file(path_, owner_, std::span(data).first(size));
  if (!problem.empty() && log_) {
    log_(LogLevel::warning, "The pipeline cache is not saved. " + problem);
  }
}

void PipelineCache::warn(const std::string& what) const {
  if (log_) {
    log_(LogLevel::warning, "The pipeline cache '" + path_.string() + "' " + what + ".");
  }
}

}  // namespace reprise::vulkan
