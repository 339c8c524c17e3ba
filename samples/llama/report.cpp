#include "samples/llama/report.h"

#include <algorithm>
#include <cstdio>

namespace llama {
namespace {

std::uint64_t median(std::vector<std::uint64_t> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double per_second(std::size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

double seconds_of(const reprise::FinishReport& r) {
  return static_cast<double>(r.record_ns + r.encode_ns + r.submit_ns + r.wait_ns) * 1e-9;
}

}  // namespace

void print_times(const Generation& g, std::size_t prompt) {
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  std::fprintf(stderr, "%-8s %10s %10s %10s %10s %10s %10s %10s\n", "", "record us", "plan us",
               "encode us", "submit us", "wait us", "device us", "tok/s");
  const auto line = [&](const char* name, const reprise::FinishReport& r, std::uint64_t submit,
                        std::uint64_t wait, std::uint64_t device, double rate) {
    std::fprintf(stderr, "%-8s %10.0f %10.0f %10.0f %10.1f %10.1f %10.1f %10.1f\n", name,
                 us(r.record_ns), us(r.plan_ns), us(r.encode_ns), us(submit), us(wait), us(device),
                 rate);
  };
  line("prefill", g.prefill, g.prefill.submit_ns, g.prefill.wait_ns,
       g.prefill.device_ns.value_or(0), per_second(prompt, seconds_of(g.prefill)));
  if (!g.submit_ns.empty()) {
    line("decode", g.decode, median(g.submit_ns), median(g.wait_ns), median(g.device_ns),
         per_second(g.submit_ns.size(), g.decode_seconds));
  }
}

void print_times(const ExpertGeneration& g, std::size_t prompt) {
  std::fprintf(stderr, "prefill %.1f tok/s, decode %.1f tok/s\n",
               per_second(prompt, g.prefill_seconds), per_second(g.steps, g.decode_seconds));
  std::fprintf(stderr, "%-10s %10s %10s %10s %12s %10s\n", "experts", "cells", "hits", "misses",
               "moved MB", "stall ms");
  for (const reprise::ExpertStats& layer : g.layers) {
    std::fprintf(stderr, "%-10s %10lld %10llu %10llu %12.1f %10.1f\n", layer.layer.c_str(),
                 static_cast<long long>(g.cells), static_cast<unsigned long long>(layer.hits),
                 static_cast<unsigned long long>(layer.misses),
                 static_cast<double>(layer.bytes_moved) / 1e6,
                 static_cast<double>(layer.stall_ns) / 1e6);
  }
}

nlohmann::json to_json(const WeightBytes& weights, const Generation& g, const Transcript& said) {
  return {{"prompt_ids", said.prompt},
          {"weight_bytes", weights.all},
          {"weight_bytes_in_place", weights.in_place},
          {"generated_ids", g.ids},
          {"text", said.text},
          {"prefill_tok_s", per_second(said.prompt.size(), seconds_of(g.prefill))},
          {"decode_tok_s", per_second(g.submit_ns.size(), g.decode_seconds)},
          {"nodes", g.decode.ops},
          {"barriers", g.decode.barriers},
          {"replays", g.replays},
          {"submissions", g.submissions},
          {"allocations_after_first_step", g.allocations},
          {"record_ns", g.decode.record_ns},
          {"plan_ns", g.decode.plan_ns},
          {"submit_ns_p50", median(g.submit_ns)},
          {"wait_ns_p50", median(g.wait_ns)},
          {"device_ns_p50", median(g.device_ns)}};
}

nlohmann::json to_json(const WeightBytes& weights, const ExpertGeneration& g,
                       const Transcript& said) {
  nlohmann::json layers = nlohmann::json::array();
  for (const reprise::ExpertStats& layer : g.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"hits", layer.hits},
                      {"misses", layer.misses},
                      {"bytes_moved", layer.bytes_moved},
                      {"stall_ns", layer.stall_ns}});
  }
  return {{"prompt_ids", said.prompt},
          {"weight_bytes", weights.all},
          {"weight_bytes_in_place", weights.in_place},
          {"weight_bytes_of_experts", weights.experts},
          {"generated_ids", g.ids},
          {"text", said.text},
          {"prefill_tok_s", per_second(said.prompt.size(), g.prefill_seconds)},
          {"decode_tok_s", per_second(g.steps, g.decode_seconds)},
          {"expert_cells", g.cells},
          {"experts", layers}};
}

nlohmann::json to_json(const WeightBytes& weights, const ParallelGeneration& g,
                       std::span<const Transcript> said) {
  nlohmann::json sequences = nlohmann::json::array();
  std::size_t prompts = 0, generated = 0;
  for (const Transcript& one : said) {
    sequences.push_back(
        {{"prompt_ids", one.prompt}, {"generated_ids", one.ids}, {"text", one.text}});
    prompts += one.prompt.size();
    generated += one.ids.size() - std::min<std::size_t>(one.ids.size(), 1);
  }
  return {{"sequences", sequences},
          {"weight_bytes", weights.all},
          {"weight_bytes_in_place", weights.in_place},
          {"steps", g.steps},
          {"prefill_tok_s", per_second(prompts, g.prefill_seconds)},
          {"decode_tok_s", per_second(generated, g.decode_seconds)}};
}

nlohmann::json to_json(const WeightBytes& weights, const Perplexity& p) {
  return {{"perplexity", p.value},       {"perplexity_error", p.error},
          {"tokens", p.tokens},          {"chunks", p.chunks},
          {"weight_bytes", weights.all}, {"weight_bytes_in_place", weights.in_place}};
}

}  // namespace llama
