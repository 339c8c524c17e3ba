#include "backends/vulkan/features.h"

#include <string>

#include <spirv/unified1/spirv.hpp>

#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

struct Answer {
  std::string name;
  bool supported;
};

Answer subgroup(const OptionalFeatures& features, VkSubgroupFeatureFlags bit, const char* name) {
  return {name, (features.subgroup_operations & bit) != 0};
}

Answer ask(std::uint32_t capability, const OptionalFeatures& f) {
  switch (capability) {
    case spv::CapabilityMatrix:
    case spv::CapabilityShader:
    case spv::CapabilitySampledBuffer:
      return {"shaders", true};
    case spv::CapabilityStorageBuffer16BitAccess:
      return {"16-bit storage buffers", f.storage_16bit};
    case spv::CapabilityStorageBuffer8BitAccess:
      return {"8-bit storage buffers", f.storage_8bit};
    case spv::CapabilityFloat16:
      return {"16-bit float arithmetic", f.shader_float16};
    case spv::CapabilityInt8:
      return {"8-bit integer arithmetic", f.shader_int8};
    case spv::CapabilityInt16:
      return {"16-bit integer arithmetic", f.shader_int16};
    case spv::CapabilityInt64:
      return {"64-bit integer arithmetic", f.shader_int64};
    case spv::CapabilityGroupNonUniform:
      return subgroup(f, VK_SUBGROUP_FEATURE_BASIC_BIT, "subgroups");
    case spv::CapabilityGroupNonUniformVote:
      return subgroup(f, VK_SUBGROUP_FEATURE_VOTE_BIT, "subgroup votes");
    case spv::CapabilityGroupNonUniformArithmetic:
      return subgroup(f, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, "subgroup arithmetic");
    case spv::CapabilityGroupNonUniformBallot:
      return subgroup(f, VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup ballots");
    case spv::CapabilityGroupNonUniformShuffle:
      return subgroup(f, VK_SUBGROUP_FEATURE_SHUFFLE_BIT, "subgroup shuffles");
    case spv::CapabilityGroupNonUniformShuffleRelative:
      return subgroup(f, VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT, "relative subgroup shuffles");
    case spv::CapabilityGroupNonUniformClustered:
      return subgroup(f, VK_SUBGROUP_FEATURE_CLUSTERED_BIT, "subgroup clusters");
    default:
      return {"the SPIR-V capability " + std::to_string(capability), false};
  }
}

}  // namespace

std::vector<std::pair<std::string, bool>> listed(const OptionalFeatures& features) {
  return {{"storageBuffer16BitAccess", features.storage_16bit},
          {"storageBuffer8BitAccess", features.storage_8bit},
          {"shaderFloat16", features.shader_float16},
          {"shaderInt8", features.shader_int8},
          {"shaderInt16", features.shader_int16},
          {"shaderInt64", features.shader_int64},
          {"shaderSubgroupExtendedTypes", features.subgroup_extended_types},
          {"subgroupBroadcastDynamicId", features.subgroup_broadcast_dynamic_id},
          {"shaderZeroInitializeWorkgroupMemory", features.zero_initialize_workgroup},
          {"subgroupArithmetic",
           (features.subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0}};
}

void require_supported(const ShaderInterface& shader, const OptionalFeatures& features,
                       std::string_view kernel) {
  for (const std::uint32_t capability : shader.capabilities) {
    const Answer answer = ask(capability, features);
    if (!answer.supported) {
      throw_error(ErrorCode::unsupported, "The kernel (", kernel, ") needs ", answer.name,
                  ", which this device does not have.");
    }
  }
}

}  // namespace reprise::vulkan
