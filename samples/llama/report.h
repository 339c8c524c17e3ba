// What reprise-llama prints of a run.
#pragma once
#include <nlohmann/json.hpp>

#include "samples/llama/expert_generation.h"
#include "samples/llama/parallel.h"
#include "samples/llama/perplexity.h"

namespace llama {

/// One sequence, as ids and as text.
struct Transcript {
  std::vector<std::int32_t> prompt, ids;
  std::string text;
};

/// A table on stderr.
void print_times(const Generation& g, std::size_t prompt);
void print_times(const ExpertGeneration& g, std::size_t prompt);

nlohmann::json to_json(const WeightBytes& weights, const Generation& g, const Transcript& said);
nlohmann::json to_json(const WeightBytes& weights, const ExpertGeneration& g,
                       const Transcript& said);
nlohmann::json to_json(const WeightBytes& weights, const ParallelGeneration& g,
                       std::span<const Transcript> said);
nlohmann::json to_json(const WeightBytes& weights, const Perplexity& p);

}  // namespace llama
