#include "samples/llama/model.h"

namespace llama {
namespace {

constexpr std::int64_t kMostOfAnything = std::int64_t{1} << 24U;

void expect_shape(const reprise::Tensor& tensor, const std::string& name,
                  const reprise::Shape& shape) {
  if (tensor.shape() != shape) {
    reprise::invalid("The tensor '" + name + "' has the shape (" + to_string(tensor.shape()) +
                     "), but the model's metadata asks for " + to_string(shape) + ".");
  }
}

}  // namespace

Sizes sizes_of(const reprise::GgufFile& file) {
  const std::string architecture(file.value("general.architecture").as_string());
  if (architecture != "llama") {
    throw reprise::Error(
        reprise::ErrorCode::unsupported,
        "The model's architecture is (" + architecture + "), but this program runs: llama.");
  }
  const auto integer = [&](const std::string& key) {
    return file.value("llama." + key).as_integer(1, kMostOfAnything);
  };
  const auto integer_or = [&](const std::string& key, std::int64_t otherwise) {
    const reprise::GgufValue* value = file.find_value("llama." + key);
    return value == nullptr ? otherwise : value->as_integer(1, kMostOfAnything);
  };
  Sizes s{};
  s.layers = integer("block_count");
  s.dim = integer("embedding_length");
  s.ffn = integer("feed_forward_length");
  s.heads = integer("attention.head_count");
  s.kv_heads = integer_or("attention.head_count_kv", s.heads);
  s.context = integer("context_length");
  s.head_dim = integer_or("attention.key_length", s.dim / s.heads);
  s.rope_dims = integer_or("rope.dimension_count", s.head_dim);
  s.eps = static_cast<float>(file.value("llama.attention.layer_norm_rms_epsilon").as_real());
  const reprise::GgufValue* base = file.find_value("llama.rope.freq_base");
  s.rope_base = base == nullptr ? 10000.0F : static_cast<float>(base->as_real());
  s.vocabulary = file.tensor("token_embd.weight").shape.dim(0);
  if (s.heads % s.kv_heads != 0 || s.head_dim % 2 != 0 || s.rope_dims > s.head_dim) {
    reprise::invalid("The model has (" + std::to_string(s.heads) + ") heads of " +
                     std::to_string(s.head_dim) + " elements, (" + std::to_string(s.kv_heads) +
                     ") key heads and rotates (" + std::to_string(s.rope_dims) +
                     ") elements; heads must be a multiple of key heads, and a head even and at "
                     "least what is rotated.");
  }
  return s;
}

Model load_model(const reprise::Device& device, const reprise::GgufFile& file,
                 std::int64_t context) {
  Model m;
  m.sizes = sizes_of(file);
  const Sizes& s = m.sizes;
  const Weights weights(device, file);
  m.weight_bytes = weights.bytes();
  const auto get = [&](const std::string& name, const reprise::Shape& shape) {
    reprise::Tensor tensor = weights.get(name);
    expect_shape(tensor, name, shape);
    return tensor;
  };
  const std::int64_t q = s.heads * s.head_dim;
  const std::int64_t kv = s.kv_heads * s.head_dim;
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string p = "blk." + std::to_string(i) + ".";
    const auto cache = [&](const std::string& name) {
      return device.zeros({context, s.kv_heads, s.head_dim}, reprise::DType::f32, p + name);
    };
    m.layers.push_back({.attn_norm = get(p + "attn_norm.weight", {s.dim}),
                        .wq = get(p + "attn_q.weight", {q, s.dim}),
                        .wk = get(p + "attn_k.weight", {kv, s.dim}),
                        .wv = get(p + "attn_v.weight", {kv, s.dim}),
                        .wo = get(p + "attn_output.weight", {s.dim, q}),
                        .ffn_norm = get(p + "ffn_norm.weight", {s.dim}),
                        .gate = get(p + "ffn_gate.weight", {s.ffn, s.dim}),
                        .up = get(p + "ffn_up.weight", {s.ffn, s.dim}),
                        .down = get(p + "ffn_down.weight", {s.dim, s.ffn}),
                        .k_cache = cache("k_cache"),
                        .v_cache = cache("v_cache")});
  }
  m.embedding = get("token_embd.weight", {s.vocabulary, s.dim});
  m.norm = get("output_norm.weight", {s.dim});
  m.head =
      weights.find("output.weight") ? get("output.weight", {s.vocabulary, s.dim}) : m.embedding;
  m.rope_factors = weights.find("rope_freqs.weight");
  return m;
}

}  // namespace llama
