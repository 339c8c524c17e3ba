// Optional device features that shaders may use; most are found by SPIR-V capability.
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
  // No capability names these, so they are enabled wherever there are.
  bool subgroup_extended_types = false;
  bool subgroup_broadcast_dynamic_id = false;
  bool zero_initialize_workgroup = false;
  VkSubgroupFeatureFlags subgroup_operations = 0;  // in compute shaders
};

/// For reports: names as Vulkan spells them.
std::vector<std::pair<std::string, bool>> listed(const OptionalFeatures& features);

/// Throws unsupported, naming the kernel and the capability the device lacks.
void require_supported(const ShaderInterface& shader, const OptionalFeatures& features,
                       std::string_view kernel);

}  // namespace reprise::vulkan
