// A shader that a program compiles while it runs, and the result for a device.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reprise/backend/shader_interface.h"

namespace reprise {

/// GLSL or SPIR-V of a compute shader. It need not be valid.
struct ShaderSource {
  std::string name{};
  std::string glsl{};                  // its entry point is main()
  std::vector<std::uint32_t> spirv{};  // instead; its only entry point is "main"
  /// Text for #include, by name, beside the files of shaders/include.
  std::map<std::string, std::string> includes{};
  /// Specialization constants by id: the bits of a 32-bit number, or 0 or 1 for a bool.
  std::map<std::uint32_t, std::uint32_t> constants{};
};

/// A compiled shader, immutable.
/// Lifetime: steps may name the shader as long as a handle exists that Backend::add_shader()
/// returned.
struct RunTimeShader {
  std::string name;                  // value of Kernel::shader: "kernel:scale:8f3a50c1f1c7d03e"
  std::uint64_t hash = 0;            // of the SPIR-V
  std::string glsl;                  // empty if it came as SPIR-V
  std::vector<std::uint32_t> spirv;  // valid, with the constants in place
  ShaderInterface interface;         // read from `spirv`
  std::array<std::uint32_t, 3> max_groups{};  // along each axis, on its device
};

}  // namespace reprise
