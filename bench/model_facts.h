// What rows of benchmarks say about a model file.
#pragma once
#include <cstdint>
#include <string>

#include "reprise/formats/gguf.h"

namespace reprise::bench {

struct ModelFacts {
  std::string type;  // "llama 110M q8_0": architecture, parameters, the type most bytes have
  std::uint64_t bytes = 0, parameters = 0;
};

ModelFacts facts_of(const GgufFile& file);

}  // namespace reprise::bench
