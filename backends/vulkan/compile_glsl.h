// GLSL of the caller's to SPIR-V, with glslang as a library. It sees text only: no file is opened.
#pragma once
#include <cstdint>
#include <vector>

#include "reprise/backend/run_time_shader.h"

namespace reprise::vulkan {

/// May be called concurrently. Throws invalid_argument with the compiler's messages, which name
/// lines of the source, for what does not compile, for text above 1 MiB, alone or with all it
/// includes, and for text with a zero byte.
std::vector<std::uint32_t> compile_glsl(const ShaderSource& source);

}  // namespace reprise::vulkan
