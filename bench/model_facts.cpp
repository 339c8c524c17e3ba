#include "bench/model_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace reprise::bench {
namespace {

/// "260K", "15M", "1.1B"
std::string short_count(std::uint64_t count) {
  const auto n = static_cast<double>(count);
  if (n < 1e6) {
    return std::to_string(std::llround(n / 1e3)) + "K";
  }
  if (n < 1e9) {
    return std::to_string(std::llround(n / 1e6)) + "M";
  }
  const long long tenths = std::llround(n / 1e8);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "B";
}

}  // namespace

ModelFacts facts_of(const GgufFile& file) {
  ModelFacts facts;
  std::map<std::string_view, std::uint64_t> bytes_of_type;
  for (const GgufTensor& tensor : file.tensors()) {
    facts.bytes += tensor.data.size();
    facts.parameters += static_cast<std::uint64_t>(tensor.shape.elements());
    bytes_of_type[tensor.type_name] += tensor.data.size();
  }
  const auto max =
      std::ranges::max_element(bytes_of_type, {}, [](const auto& p) { return p.second; });
  facts.type = std::string(file.value("general.architecture").as_string()) + " " +
               short_count(facts.parameters) +
               (max == bytes_of_type.end() ? "" : " " + std::string(max->first));
  return facts;
}

}  // namespace reprise::bench
