// Choice of kernels: the family that a device runs, and the precision that its user allows.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

/// Families of kernels that a Vulkan device may run. Every op has portable ones; a device uses the
/// others where the op has them.
enum class KernelFamily : std::uint8_t {
  portable,  // one invocation per element, row or small tile; nothing optional is used
  lanes,  // software drivers that run a workgroup as one vector of 8 lanes, a subgroup: no shared
          // memory, register tiles, operands read as texels
  gpu,    // subgroup reductions, shared memory, wide loads
};

/// Returns "portable", "lanes", "gpu".
std::string_view name_of(KernelFamily family);
/// Returns the family of that name; empty for any other name.
std::optional<KernelFamily> kernel_family_of(std::string_view name);

/// How far products may deviate for speed. Devices without faster kernels are exact in either one:
/// every Vulkan device is.
enum class Precision : std::uint8_t {
  exact,  // weights are decoded to f32, sums are f32 or wider
  fast,   // where weights are quantised, activations may be rounded to 8 bits too
};
/// Returns "exact", "fast".
std::string_view name_of(Precision precision);
/// Returns the precision of that name; empty for any other name.
std::optional<Precision> precision_of(std::string_view name);

}  // namespace reprise
