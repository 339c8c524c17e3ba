// Elements of a tensor's bytes.
#pragma once
#include <cstring>
#include <vector>

namespace reprise::testing {

inline std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace reprise::testing
