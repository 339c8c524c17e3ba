// Models with random weights, one of every architecture and format:
// samples/models/make_random_model.py.
#pragma once
#include <numeric>

#include "samples/llama/generate.h"
#include "tests/testing.h"

namespace reprise::testing {

/// "qwen3-q8_0", or "wide-q4_K": a llama whose rows every block format divides.
inline GgufFile random_model(const std::string& name) {
  return GgufFile::open(std::string(REPRISE_RANDOM_MODELS_DIR) + "/" + name + ".gguf");
}

inline std::vector<std::int32_t> random_tokens(std::uint64_t seed, std::size_t count,
                                               std::int64_t vocabulary) {
  std::mt19937_64 rng(seed);
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens) {
    token = static_cast<std::int32_t>(rng() % static_cast<std::uint64_t>(vocabulary));
  }
  return tokens;
}

}  // namespace reprise::testing
