// A small decode pass with everything a saved graph may hold: views, caches, inputs, state of every
// owner, scopes. Two processes make the same one.
#pragma once
#include <cmath>

#include "reprise/session/saved_graphs.h"
#include "tests/testing.h"

namespace reprise::testing {

/// One number per index, the same in every process.
inline std::vector<float> wave(std::int64_t count, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
  }
  return values;
}

class SavedPass {
 public:
  static constexpr std::int32_t kTokens = 24, kHeads = 2, kHead = 8, kDim = 16, kCapacity = 64;
  static StateLayout layout() {
    return StateLayout()
        .host("end", -1)
        .host("boost", 1, {.low = 0, .high = 4})
        .carried("pos")
        .carried("token", 3)
        .carried("done")
        .derived("kv_len", field("pos") + 1, {.low = 0, .high = kCapacity})
        .array_f32("weights", kDim)
        .carried_array("seen", kCapacity)
        .stop_when("done");
  }
  explicit SavedPass(const Device& of, ExecutorOptions options = {})
      : device(of), executor(of, std::move(options)), state(of, layout()) {
    const auto add = [&](const char* name, const Shape& shape, double step) {
      tensors[name] = device.from_host(shape, wave(shape.elements(), step), name);
    };
    add("embedding", {kTokens, kDim}, 0.7);
    add("norm", {kDim}, 0.3);
    add("wq", {kDim, kDim}, 0.9);
    add("wkv", {std::int64_t{2} * kDim, kDim}, 1.1);
    add("wo", {kDim, kDim}, 1.3);
    for (const char* cache : {"keys", "values"}) {
      tensors[cache] = device.zeros({kCapacity, kHeads, kHead}, DType::f32, cache);
    }
  }

  void record(GraphSession& s) const {
    const auto embedded = get_rows(s, at("embedding"), s.state("token"));
    const auto x = add(s, embedded, s.input("bias", {1, kDim}, wave(kDim, 0.2)));
    const auto mixed = attend(s, x);
    const auto weights = reshape(s, s.state_array("weights"), {1, kDim});
    const auto logits = matmul(s, add(s, mixed, weights), at("embedding"));
    const auto next = argmax(s, logits);
    advance(s, next,
            {.position = s.state("pos"),
             .token = s.state("token"),
             .done = s.state("done"),
             .end_token = s.state("end")});
    s.output("logits", logits);
    s.output("next", next);
    s.output("halves", cast(s, mixed, DType::f16));
    s.output("turned", copy(s, permute(s, reshape(s, mixed, {4, 4}), {1, 0})));
    s.output("keys", at("keys"));
  }
  FinishResult capture(std::uint32_t max_iterations = 1, const FinishOptions& options = {}) {
    auto s =
        executor.begin_recorded({.name = "pass", .state = state, .max_iterations = max_iterations});
    record(s);
    return s.finish(options);
  }
  LoadedGraph load(const std::filesystem::path& path) {
    return executor.load_graph(path, {.tensors = tensors, .state = state});
  }

  const Tensor& at(const char* name) const { return tensors.find(name)->second; }
  Device device;
  GraphExecutor executor;
  StateBlock state;
  std::map<std::string, Tensor, std::less<>> tensors;

 private:
  Tensor attend(Recorder& s, const Tensor& x) const {
    const auto scope = s.scope("layer", 3);
    const auto inner = s.scope("attn");
    const auto heads = [&](const Tensor& y) { return reshape(s, y, {1, kHeads, kHead}); };
    const auto pos = s.state("pos");
    const auto h = rms_norm(s, x, at("norm"), {.eps = 1e-6F});
    const auto products = matmul_group(s, h, at("wkv"), at("wq"));
    const auto& kv = products.y0;
    const auto q = rope(s, heads(products.y1), {.position = pos});
    set_rows(s, at("keys"), rope(s, heads(slice(s, kv, 1, 0, kDim)), {.position = pos}),
             {.position = pos});
    set_rows(s, at("values"), heads(slice(s, kv, 1, kDim, kDim)), {.position = pos});
    const auto y = attention(s, q, at("keys"), at("values"), {.kv_len = s.state("kv_len")});
    return add(s, x, matmul(s, reshape(s, y, {1, kDim}), at("wo")));
  }
};

/// Launches with changing inputs and state, and everything that came out.
inline std::vector<std::byte> outcome_of(SavedPass& pass, CapturedGraph& graph,
                                         std::uint32_t iterations) {
  std::vector<std::byte> all;
  const auto add = [&](std::span<const std::byte> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  };
  for (int launch = 0; launch < 5; ++launch) {
    if (launch == 2) {
      graph.set_input("bias", wave(SavedPass::kDim, 0.5));
    }
    if (launch == 1) {
      pass.state.set("weights", wave(SavedPass::kDim, 1.7));
    }
    if (launch == 3) {
      pass.state.set("token", 11);
    }
    graph.launch({.iterations = iterations});
    for (const char* name : {"logits", "next", "halves", "turned", "keys"}) {
      add(graph.output(name).bytes);
    }
    for (std::uint32_t i = 0; i < graph.iterations(); ++i) {
      add(graph.output("next", i).bytes);
      add(graph.output("logits", i).bytes);
    }
    for (const char* name : {"pos", "token", "done", "kv_len"}) {
      const std::int32_t value = pass.state.get(name);
      add(std::as_bytes(std::span(&value, 1)));
    }
  }
  add(pass.device.to_host(pass.at("values")));
  return all;
}

}  // namespace reprise::testing
