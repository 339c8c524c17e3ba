// A shader that a program brings while it runs, and what a device made of it.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reprise/core/spirv_reflect.h"

namespace reprise {

/// GLSL or SPIR-V of a compute shader. Anything may stand in it.
struct ShaderSource {
  std::string name{};
  std::string glsl{};                  // its entry point is main()
  std::vector<std::uint32_t> spirv{};  // instead; its entry point is called "main"
  /// For #include, by name, beside the files of shaders/include.
  std::map<std::string, std::string> includes{};
  /// Specialization constants by id: the bits of a 32-bit number, or 0 or 1 for a bool.
  std::map<std::uint32_t, std::uint32_t> constants{};
};

/// Immutable. Steps may name the shader as long as one of the handles exists that
/// Backend::add_shader() gave.
struct RunTimeShader {
  std::string name;                  // what Kernel::shader says: "kernel:scale:8f3a50c1f1c7d03e"
  std::uint64_t hash = 0;            // of the SPIR-V
  std::string glsl;                  // empty if it came as SPIR-V
  std::vector<std::uint32_t> spirv;  // valid, with the constants in place
  ShaderInterface interface;         // of that
  std::array<std::uint32_t, 3> max_groups{};  // along each axis, on its device
};

}  // namespace reprise
