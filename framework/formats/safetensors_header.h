// The header of one safetensors file: what it says of its tensors and where their bytes lie.
// Memory used is proportional to the header, which is bounded.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/formats/safetensors.h"

namespace reprise {

/// As in the format's reference implementation.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;  // in the order of the header
  std::vector<std::size_t> by_name;        // indices, sorted
  using Text = std::pair<std::string, std::string>;
  std::vector<Text> metadata;
};

/// Tensors are views into `bytes` and `path`. Errors: invalid_argument.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes,
                                          const std::string& path);

struct SafetensorsType {
  std::string_view name;
  std::uint32_t bits;
  std::optional<DType> dtype;
};
/// nullptr for types that came later than this library: their size is unknown.
const SafetensorsType* safetensors_type(std::string_view name);
/// "F32, F16, ...": those with a dtype.
std::string computable_safetensors_types();

}  // namespace reprise
