#include "samples/llama/archs/architecture.h"

#include <algorithm>
#include <array>
#include <limits>

namespace llama {

std::span<const Architecture* const> architectures() {
  static const std::array all{
      &gemma_architecture(), &gemma2_architecture(), &llama_architecture(),   &mamba_architecture(),
      &qwen2_architecture(), &qwen3_architecture(),  &qwen3moe_architecture()};
  return all;
}

const Architecture& architecture_named(std::string_view name) {
  std::string names;
  for (const Architecture* architecture : architectures()) {
    if (architecture->name == name) {
      return *architecture;
    }
    names += (names.empty() ? "" : ", ") + std::string(architecture->name);
  }
  throw reprise::Error(reprise::ErrorCode::unsupported,
                       "The model's architecture is (" + std::string(name) +
                           "), but this program runs: " + names + ".");
}

void read_attention(const Hyperparameters& keys, Sizes& s) {
  constexpr float kMost = std::numeric_limits<float>::max();
  s.heads = keys.count("attention.head_count");
  s.kv_heads = keys.count_or("attention.head_count_kv", s.heads);
  if (s.heads % s.kv_heads != 0) {
    keys.refuse(
        "attention.head_count_kv", std::to_string(s.kv_heads),
        "must divide '" + keys.key("attention.head_count") + "', " + std::to_string(s.heads));
  }
  s.head_dim = keys.count_or("attention.key_length", s.dim / s.heads);
  if (s.head_dim < 2 || s.head_dim % 2 != 0) {
    keys.refuse(keys.has("attention.key_length") ? "attention.key_length" : "attention.head_count",
                std::to_string(keys.has("attention.key_length") ? s.head_dim : s.heads),
                "a head must have an even number of elements, not " + std::to_string(s.head_dim));
  }
  if (const std::int64_t values = keys.count_or("attention.value_length", s.head_dim);
      values != s.head_dim) {
    keys.refuse("attention.value_length", std::to_string(values),
                "must be the length of a key, " + std::to_string(s.head_dim));
  }
  s.rope_dims = keys.count_or("rope.dimension_count", s.head_dim);
  if (s.rope_dims > s.head_dim || s.rope_dims % 2 != 0) {
    keys.refuse("rope.dimension_count", std::to_string(s.rope_dims),
                "must be even and at most the elements of a head, " + std::to_string(s.head_dim));
  }
  s.rope_base = keys.real_or("rope.freq_base", 10000, 1, kMost);
  const std::string_view scaling = keys.text_or("rope.scaling.type", "none");
  if (scaling == "linear") {
    s.rope_scale = 1 / keys.real("rope.scaling.factor", 1, kMost);
  } else if (scaling != "none") {
    keys.refuse("rope.scaling.type", std::string(scaling), "must be none or linear");
  }
}

void read_feed_forward(const Hyperparameters& keys, Sizes& s) {
  s.ffn = keys.count("feed_forward_length");
}

void read_experts(const Hyperparameters& keys, Sizes& s, std::string_view width) {
  s.experts = keys.count("expert_count");
  s.experts_used = keys.count("expert_used_count");
  const auto max = std::min<std::int64_t>(s.experts, reprise::kMaxRoutedExperts);
  if (s.experts_used > max) {
    keys.refuse("expert_used_count", std::to_string(s.experts_used),
                "must be at most " + std::to_string(max));
  }
  s.expert_ffn = keys.count(width);
}

}  // namespace llama
