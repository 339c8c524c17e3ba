// Element types, block-quantised formats included.
// Threads: all functions may be called concurrently.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

/// Block formats are bit-compatible with GGUF.
enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  i32,
  i64,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q4_k,
  q5_k,
  q6_k,
  q2_k,
  q3_k,
  iq4_nl,
  iq4_xs
};
inline constexpr std::size_t kDTypeCount = 17;

struct DTypeInfo {
  std::string_view name;
  std::uint32_t block_elements;  // 1 for plain types
  std::uint32_t block_bytes;
};

inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypes{{
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
    {"q2_K", 256, 84},
    {"q3_K", 256, 110},
    {"iq4_nl", 32, 18},
    {"iq4_xs", 256, 136},
}};
constexpr const DTypeInfo& info_of(DType type) { return kDTypes[static_cast<std::size_t>(type)]; }
std::string_view name_of(DType type);
std::optional<DType> dtype_named(std::string_view name);

/// A dtype that the host has as a type of its own.
template <class T>
concept HostElement =
    std::same_as<T, float> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;
/// The dtype whose elements are of type T.
template <HostElement T>
inline constexpr DType kDTypeOf = std::same_as<T, float>          ? DType::f32
                                  : std::same_as<T, std::int32_t> ? DType::i32
                                                                  : DType::i64;

/// A type that fields of a state are read as.
template <class T>
concept StateElement = std::same_as<T, float> || std::same_as<T, std::int32_t>;

/// Returns the bytes of `elements` consecutive elements; a started block counts whole.
constexpr std::uint64_t bytes_of(DType type, std::uint64_t elements) {
  const DTypeInfo& info = info_of(type);
  if (info.block_elements == 1) {
    return elements * info.block_bytes;
  }
  return (elements + info.block_elements - 1) / info.block_elements * info.block_bytes;
}

}  // namespace reprise
