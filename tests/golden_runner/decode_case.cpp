#include <algorithm>

#include "samples/llama/forward.h"
#include "tests/golden_runner/runs.h"

namespace golden {
namespace {

using reprise::DType;
using reprise::Tensor;

constexpr std::int64_t kMost = std::int64_t{1} << 20U;

Tensor weight(const reprise::Device& device, const GoldenCase& c, const std::string& name,
              const reprise::Shape& shape) {
  const GoldenTensor& from = c.input(name);
  if (shape.rank() == 1) {
    need_dtype(from, {DType::f32});
  }
  if (from.shape(shape.rank()) != shape) {
    reprise::throw_invalid_argument("The weight '" + name + "' has the shape (" +
                                    to_string(from.shape(shape.rank())) +
                                    "), but the parameters ask for " + to_string(shape) + ".");
  }
  return device.from_host(shape, from.dtype, from.bytes, name);
}

/// A decoder and the run of its steps, from the first token on, as often as wanted.
class Decoder {
 public:
  Decoder(const reprise::Device& device, const GoldenCase& c, reprise::Precision precision);
  /// All steps from the start. Results hold the outputs of all steps and the final caches.
  Results run(Mode mode);

 private:
  void load(const GoldenCase& c, DType cache_dtype, std::int64_t capacity);
  void reset();
  void record(reprise::GraphSession& s) const;
  template <class Readable>
  void take(const Readable& from, Results& results) const;
  void check_caches(const Results& results) const;

  const reprise::Device& device_;
  reprise::GraphExecutor executor_;
  reprise::StateBlock state_;
  llama::Model model_;
  reprise::CapturedGraph graph_;  // of the first recorded run, replayed by later ones
  std::int64_t steps_;
  std::int32_t first_token_;
};

Decoder::Decoder(const reprise::Device& device, const GoldenCase& c, reprise::Precision precision)
    : device_(device),
      executor_(device, {.precision = precision}),
      state_(device, llama::state_layout(-1)),
      steps_(c.integer("steps", 1, kMost)) {
  const std::string kv_type = c.text("kv_type");
  if (c.text("rope") != "normal" || (kv_type != "f16" && kv_type != "f32")) {
    throw Skip("rope " + c.text("rope") + " with a cache of " + kv_type);
  }
  auto& z = model_.sizes;
  z.layers = c.integer("n_layer", 1, kMost);
  z.dim = c.integer("n_embd", 1, kMost);
  z.ffn = c.integer("n_ff", 1, kMost);
  z.heads = c.integer("n_head", 1, kMost);
  z.kv_heads = c.integer("n_head_kv", 1, z.heads);
  z.vocabulary = c.integer("n_vocab", 1, kMost);
  if (z.dim % z.heads != 0 || z.heads % z.kv_heads != 0) {
    reprise::throw_invalid_argument(
        "n_embd must be a multiple of n_head, and n_head of n_head_kv.");
  }
  z.head_dim = z.rope_dims = z.dim / z.heads;
  z.eps = c.real("rms_eps");
  z.rope_base = c.real("freq_base");
  z.context = c.integer("kv_capacity", steps_, kMost);
  first_token_ = static_cast<std::int32_t>(c.integer("first_token", 0, z.vocabulary - 1));
  load(c, kv_type == "f16" ? DType::f16 : DType::f32, z.context);
}

void Decoder::load(const GoldenCase& c, DType cache_dtype, std::int64_t capacity) {
  const llama::Sizes& z = model_.sizes;
  const std::int64_t kv = z.kv_heads * z.head_dim;
  for (std::int64_t i = 0; i < z.layers; ++i) {
    const auto get = [&](const std::string& name, const reprise::Shape& shape) {
      return weight(device_, c, "blk." + std::to_string(i) + "." + name, shape);
    };
    const auto cache = [&](const std::string& name) {
      const GoldenTensor& final = c.output(name + "." + std::to_string(i));
      if (final.dtype != cache_dtype || final.elements() != capacity * kv) {
        reprise::throw_invalid_argument("The output '" + final.name +
                                        "' does not fit the parameters.");
      }
      return device_.zeros({capacity, z.kv_heads, z.head_dim}, cache_dtype, final.name);
    };
    model_.layers.push_back({.attn_norm = get("attn_norm", {z.dim}),
                             .wq = get("attn_q", {z.dim, z.dim}),
                             .wk = get("attn_k", {kv, z.dim}),
                             .wv = get("attn_v", {kv, z.dim}),
                             .wo = get("attn_output", {z.dim, z.dim}),
                             .ffn_norm = get("ffn_norm", {z.dim}),
                             .gate = get("ffn_gate", {z.ffn, z.dim}),
                             .up = get("ffn_up", {z.ffn, z.dim}),
                             .down = get("ffn_down", {z.dim, z.ffn}),
                             .k_cache = cache("k_cache_final"),
                             .v_cache = cache("v_cache_final")});
  }
  model_.embedding = weight(device_, c, "tok_embd", {z.vocabulary, z.dim});
  model_.norm = weight(device_, c, "output_norm", {z.dim});
  model_.head = weight(device_, c, "output", {z.vocabulary, z.dim});
}

void Decoder::reset() {
  state_.set("pos", 0);
  state_.set("token", first_token_);
  for (const llama::Layer& layer : model_.layers) {
    for (const Tensor& cache : {layer.k_cache, layer.v_cache}) {
      const reprise::TensorRef ref(cache);
      device_.write(ref->buffer, ref->offset, std::vector<std::byte>(cache.spec().bytes()));
    }
  }
}

void Decoder::record(reprise::GraphSession& s) const {
  const Tensor logits = llama::forward(s, model_, get_rows(s, model_.embedding, s.state("token")));
  s.output("logits", logits);
  s.output("tokens", llama::choose(s, logits));
}

template <class Readable>
void Decoder::take(const Readable& from, Results& results) const {
  for (const char* name : {"logits", "tokens"}) {
    const auto bytes = from.template read<std::byte>(name);
    results[name].insert(results[name].end(), bytes.begin(), bytes.end());
  }
}

/// Positions past the last step were never written, so they must still be zero.
void Decoder::check_caches(const Results& results) const {
  for (const llama::Layer& layer : model_.layers) {
    for (const Tensor& cache : {layer.k_cache, layer.v_cache}) {
      const std::string& name = cache.name();
      const auto& bytes = results.at(name);
      const auto position = static_cast<std::int64_t>(bytes.size()) / cache.shape().dim(0);
      if (!std::all_of(bytes.begin() + steps_ * position, bytes.end(),
                       [](std::byte b) { return b == std::byte{0}; })) {
        reprise::throw_invalid_argument("Positions of '" + name +
                                        "' past the last step were written.");
      }
    }
  }
}

Results Decoder::run(Mode mode) {
  reset();
  Results results;
  for (std::int64_t step = 0; step < steps_; ++step) {
    if (graph_) {
      graph_.launch();
      take(graph_, results);
      continue;
    }
    auto session = mode == Mode::direct
                       ? executor_.begin({.name = "decode", .state = state_})
                       : executor_.begin_recorded({.name = "decode", .state = state_});
    record(session);
    reprise::FinishResult finished = session.finish();
    take(finished, results);
    graph_ = std::move(finished.graph);
  }
  for (const llama::Layer& layer : model_.layers) {
    for (const Tensor& cache : {layer.k_cache, layer.v_cache}) {
      results[cache.name()] = device_.to_host(cache);
    }
  }
  check_caches(results);
  return results;
}

}  // namespace

Results run_decode_case(const reprise::Device& device, const GoldenCase& c, const How& how) {
  Decoder decoder(device, c, how.precision);
  Results results = decoder.run(how.mode);
  if (how.mode == Mode::recorded && decoder.run(how.mode) != results) {
    reprise::throw_invalid_argument(
        "Replaying all steps from the start differs from the first pass.");
  }
  return results;
}

}  // namespace golden
