// The interface of a compute shader, read from its SPIR-V: bindings, workgroup size, push constants
// and capabilities. A small reader for the instructions our shaders use, not a validator of SPIR-V.
// Source: SPIR-V specification 1.6, sections 2.3 (layout) and 3 (instructions).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace reprise {

enum class ShaderBindingKind : std::uint8_t {
  storage,  // a storage buffer
  uniform,  // a uniform buffer
  texels,   // a uniform texel buffer: a storage binding of the step, read through a view
};

struct ShaderBinding {
  ShaderBindingKind kind = ShaderBindingKind::storage;
  bool readonly = false;  // every member is declared so; uniforms and texels always are
  bool writeonly = false;
};

struct ShaderInterface {
  static constexpr std::uint32_t kNoConstant = 0xFFFFFFFF;

  std::map<std::uint32_t, ShaderBinding> bindings;
  /// Workgroup size. Where `local_size_ids` names a specialization constant, its default.
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::array<std::uint32_t, 3> local_size_ids{kNoConstant, kNoConstant, kNoConstant};
  std::uint32_t push_bytes = 0;
  /// Shared memory of a workgroup, laid out as a storage buffer would be; empty where a
  /// specialization constant decides it.
  std::optional<std::uint64_t> shared_bytes = 0;
  std::string entry_point;                  // of the compute shader, the last one if there are more
  std::vector<std::uint32_t> constant_ids;  // of specialization constants, in the order declared
  std::vector<std::uint32_t> capabilities;  // values of spv::Capability, in the order declared
};

/// Reads the interface. Any words are safe to pass.
/// Errors: invalid_argument if the module is malformed; unsupported if it uses a resource that is
/// not a plain buffer or texel buffer of set 0.
ShaderInterface reflect_spirv(std::span<const std::uint32_t> words);

}  // namespace reprise
