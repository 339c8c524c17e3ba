// What holds for every input, or the fuzzer stops.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sanitizer/asan_interface.h>
#include <span>

namespace reprise::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
  }
}

/// Every byte may be read, at the cost of an eighth of them.
inline void require_readable(std::span<const std::byte> bytes) {
  void* const begin = const_cast<std::byte*>(bytes.data());
  require(__asan_region_is_poisoned(begin, bytes.size()) == nullptr, "a view is of readable bytes");
}

}  // namespace reprise::fuzz
