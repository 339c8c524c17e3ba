// The families of kernels that a Vulkan device may run. Every op has portable kernels; it uses the
// others where it has them.
#pragma once
#include <cstdint>
#include <string_view>

namespace reprise {

enum class KernelFamily : std::uint8_t {
  portable,  // one invocation per element, row or small tile; nothing optional is used
  lanes,     // software drivers that run a workgroup as one vector of 8 lanes, a subgroup: no shared
             // memory, register tiles, lanes that share what they read
  gpu,       // subgroup reductions, shared memory, wide loads
};

std::string_view name_of(KernelFamily family);

}  // namespace reprise
