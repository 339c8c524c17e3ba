// SPIR-V that nobody vouches for: drivers trust what they are given, so it is validated first.
#pragma once
#include <cstdint>
#include <vector>

#include "reprise/backend/run_time_shader.h"

namespace reprise::vulkan {

/// Throws invalid_argument, with what SPIRV-Tools says, unless `words` are a valid module for
/// Vulkan 1.2 with a compute shader "main" and the specialization constants that `source` sets.
/// Returns it with their values in place, as plain constants.
std::vector<std::uint32_t> checked_spirv(const ShaderSource& source,
                                         std::vector<std::uint32_t> words);

}  // namespace reprise::vulkan
