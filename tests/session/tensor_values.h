// Elements of a tensor's bytes.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace reprise::testing {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

inline std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

}  // namespace reprise::testing
