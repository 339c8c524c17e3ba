// Element types, block-quantised formats included. Plain values; all functions may be called
// concurrently.
#pragma once
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
  q6_k
};
inline constexpr std::size_t kDTypeCount = 13;

struct DTypeInfo {
  std::string_view name;
  std::uint32_t block_elements;  // 1 for plain types
  std::uint32_t block_bytes;
};

const DTypeInfo& info_of(DType type);
std::string_view name_of(DType type);
std::optional<DType> dtype_named(std::string_view name);

/// Bytes of `elements` consecutive elements; a started block counts whole.
std::uint64_t bytes_of(DType type, std::uint64_t elements);

}  // namespace reprise
