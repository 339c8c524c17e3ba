// Optional device features that shaders may ask for, found by SPIR-V capability.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

#include "reprise/backend/shader_interface.h"

namespace reprise::vulkan {

struct OptionalFeatures {
  bool storage_16bit = false;
  bool storage_8bit = false;
  bool shader_float16 = false;
  bool shader_int8 = false;
  bool shader_int16 = false;
  bool shader_int64 = false;
  VkSubgroupFeatureFlags subgroup_operations = 0;  // in compute shaders
};

/// For reports: names as Vulkan spells them.
std::vector<std::pair<std::string, bool>> listed(const OptionalFeatures& features);

/// Throws unsupported, naming the kernel and the capability the device lacks.
void require_supported(const ShaderInterface& shader, const OptionalFeatures& features,
                       std::string_view kernel);

}  // namespace reprise::vulkan
