// The families of kernels that a Vulkan device may run. Every op has portable kernels; it uses the
// others where it has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

enum class KernelFamily : std::uint8_t {
  portable,  // one invocation per element, row or small tile; nothing optional is used
  lanes,  // software drivers that run a workgroup as one vector of 8 lanes, a subgroup: no shared
          // memory, register tiles, operands read as texels
  gpu,    // subgroup reductions, shared memory, wide loads
};

/// "portable", "lanes", "gpu".
std::string_view name_of(KernelFamily family);
/// Empty for any other name.
std::optional<KernelFamily> kernel_family_of(std::string_view name);

}  // namespace reprise
