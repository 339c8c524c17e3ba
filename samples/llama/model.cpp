#include "samples/llama/model.h"

#include "samples/llama/archs/architecture.h"

namespace llama {
namespace {

Sizes read_sizes(const Hyperparameters& keys, const Architecture& architecture) {
  Sizes s{};
  s.layers = keys.count("block_count");
  s.dim = keys.count("embedding_length");
  s.context = keys.count("context_length");
  s.eps = keys.real("attention.layer_norm_rms_epsilon", 0, 1);
  s.vocabulary = keys.file().tensor("token_embd.weight").shape.dim(0);
  architecture.read(keys, s);
  return s;
}

}  // namespace

Sizes sizes_of(const reprise::GgufFile& file) {
  const Hyperparameters keys(file);
  return read_sizes(keys, architecture_named(keys.architecture()));
}

Model load_model(const reprise::Device& device, const reprise::GgufFile& file, std::int64_t context,
                 const ModelOptions& options) {
  const Hyperparameters keys(file);
  Model m;
  m.architecture = &architecture_named(keys.architecture());
  m.sizes = read_sizes(keys, *m.architecture);
  const Sizes& s = m.sizes;
  const std::int64_t block = reprise::info_of(options.cache).block_elements;
  if (s.heads > 0 && s.head_dim % block != 0) {
    reprise::throw_invalid_argument("Heads of (" + std::to_string(s.head_dim) +
                                    ") elements are no whole blocks of " + std::to_string(block) +
                                    ", which the cache needs.");
  }
  if (options.experts == ExpertWeights::in_store) {
    if (s.experts == 0) {
      reprise::throw_invalid_argument(
          "A budget is for the experts of a model, but this one has (0) of them.");
    }
    m.expert_store = reprise::ExpertStore(s.experts);
  }
  const Weights weights(device, file, m.expert_store);
  m.weight_bytes = weights.bytes();
  for (std::int64_t i = 0; i < s.layers; ++i) {
    m.architecture->load({device, weights, i, context, options}, s, m.layers.emplace_back());
  }
  m.embedding = weights.get("token_embd.weight", {s.vocabulary, s.dim});
  m.norm = weights.get("output_norm.weight", {s.dim});
  m.head = weights.find("output.weight") ? weights.get("output.weight", m.embedding.shape())
                                         : m.embedding;
  m.rope_factors = weights.find("rope_freqs.weight");
  m.context = context;
  m.sequences = options.sequences;
  if (m.sequences > 1 && s.heads > 0) {
    m.attended = device.zeros({m.sequences, s.heads, s.head_dim}, reprise::DType::f32, "attended");
  }
  return m;
}

Model sequence_of(const Model& model, std::int64_t index) {
  Model one = model;
  one.sequences = 1;
  for (Layer& layer : one.layers) {
    for (reprise::Tensor* all :
         {&layer.k_cache, &layer.v_cache, &layer.ssm.conv_state, &layer.ssm.state}) {
      if (*all) {
        const std::int64_t rows = all->shape().dim(0) / model.sequences;
        *all = slice(*all, 0, index * rows, rows);
      }
    }
  }
  return one;
}

}  // namespace llama
