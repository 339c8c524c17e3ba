#include "reprise/core/dtype.h"

#include <array>

namespace reprise {
namespace {

constexpr std::array<DTypeInfo, kDTypeCount> kTypes{{
    {"f32", 1, 4},
    {"f16", 1, 2},
    {"bf16", 1, 2},
    {"i32", 1, 4},
    {"i64", 1, 8},
    {"q8_0", 32, 34},
    {"q4_0", 32, 18},
    {"q4_1", 32, 20},
    {"q5_0", 32, 22},
    {"q5_1", 32, 24},
    {"q4_K", 256, 144},
    {"q5_K", 256, 176},
    {"q6_K", 256, 210},
}};

}  // namespace

const DTypeInfo& info_of(DType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string_view name_of(DType type) { return info_of(type).name; }

std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

std::uint64_t bytes_of(DType type, std::uint64_t elements) {
  const DTypeInfo& info = info_of(type);
  return (elements + info.block_elements - 1) / info.block_elements * info.block_bytes;
}

}  // namespace reprise
