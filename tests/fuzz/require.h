// What holds for every input, or the fuzzer stops.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace reprise::fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
  }
}

}  // namespace reprise::fuzz
