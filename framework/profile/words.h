// State blocks, step times and histograms as blobs: little-endian words of 32 bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace reprise::profile {

static_assert(std::endian::native == std::endian::little);

inline std::span<const std::byte> blob_of(std::span<const std::uint32_t> words) {
  return std::as_bytes(words);
}
/// As much of the blob as there is room for; what it has no bytes for stays as it was.
inline void read_words(std::span<const std::byte> blob, std::span<std::uint32_t> words) {
  std::ranges::copy(blob.first(std::min(blob.size(), words.size_bytes())),
                    std::as_writable_bytes(words).begin());
}

}  // namespace reprise::profile
