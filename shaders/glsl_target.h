// What GLSL is compiled for, when the program is built and when it runs: Vulkan 1.2, SPIR-V 1.5.
#pragma once
#include <glslang/Public/ShaderLang.h>

namespace reprise::shaders {

inline constexpr int kGlslVersion = 450;  // where the source says none
inline constexpr auto kGlslMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);

inline void set_target(glslang::TShader& shader) {
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_5);
}

}  // namespace reprise::shaders
