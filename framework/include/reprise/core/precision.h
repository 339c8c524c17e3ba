// How far products may depart from their meaning for speed. Chosen per executor; lowerings find it
// in DeviceTraits, host functions of a backend in Step. Devices without faster kernels are exact in
// either one: every Vulkan device is.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

enum class Precision : std::uint8_t {
  exact,  // weights are decoded to f32, sums are f32 or wider
  fast,   // where weights are quantised, activations may be rounded to 8 bits too
};
/// "exact", "fast".
std::string_view name_of(Precision precision);
/// Empty for any other name.
std::optional<Precision> precision_of(std::string_view name);

}  // namespace reprise
