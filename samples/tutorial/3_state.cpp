// Step 3 of docs/tutorial: attention over a cache; position and token stay on the device.
#include <chrono>
#include <cstdio>

#include "decoder.h"
#include "reprise/core/printable.h"

using reprise::Device, reprise::DType, reprise::Tensor;
using tutorial::Model, tutorial::Sizes;

constexpr std::int32_t kTokens = 64;

/// Weights drawn at random: the tokens mean nothing yet.
static Model random_model(const Device& device, const Sizes& z) {
  std::uint64_t seed = 0;
  const auto weight = [&](std::int64_t rows, std::int64_t columns, const char* name) {
    return device.normal({rows, columns}, DType::f32, ++seed, 0, 0.3, name);
  };
  const Tensor norm = device.ones({z.dim}, DType::f32, "norm");
  const auto cache = [&](const char* name) {
    return device.zeros({z.context, z.kv_heads, z.head_dim}, DType::f32, name);
  };
  Model m{z, weight(z.vocabulary, z.dim, "embedding"), norm, weight(z.vocabulary, z.dim, "head")};
  for (std::int64_t i = 0; i < z.layers; ++i) {
    m.layers.push_back({.attn_norm = norm,
                        .wq = weight(z.heads * z.head_dim, z.dim, "wq"),
                        .wk = weight(z.kv_heads * z.head_dim, z.dim, "wk"),
                        .wv = weight(z.kv_heads * z.head_dim, z.dim, "wv"),
                        .wo = weight(z.dim, z.heads * z.head_dim, "wo"),
                        .k_cache = cache("k_cache"),
                        .v_cache = cache("v_cache"),
                        .ffn_norm = norm,
                        .gate = weight(z.hidden, z.dim, "gate"),
                        .up = weight(z.hidden, z.dim, "up"),
                        .down = weight(z.dim, z.hidden, "down")});
  }
  return m;
}

/// Generates 64 tokens, so many per launch; prints the first ones and the time of each.
static void generate(const reprise::StateBlock& state, reprise::CapturedGraph& graph,
                     std::uint32_t per_launch) {
  state.set({{"pos", 0}, {"token", 1}});
  const auto begin = std::chrono::steady_clock::now();
  std::printf("%u per launch:", per_launch);
  for (std::uint32_t n = 0; n < kTokens; n += per_launch) {
    graph.launch({.iterations = per_launch});
    for (std::uint32_t i = 0; i < per_launch; ++i) {
      const std::int32_t token = graph.read<std::int32_t>("next", i)[0];
      if (n + i < 8) {
        std::printf(" %d", token);
      }
    }
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::printf(", %.1f us per token, pos %d\n", time.count() / kTokens, state.get("pos"));
}

int main(int argc, char** argv) try {
  const Device device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device);
  const Sizes sizes{.layers = 2,
                    .dim = 32,
                    .hidden = 64,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .vocabulary = 64,
                    .context = kTokens};
  const Model model = random_model(device, sizes);
  const reprise::StateBlock state(device, state_layout(sizes));

  auto session = executor.begin_recorded({.name = "decode", .state = state, .max_iterations = 8});
  decode_step(session, model);
  reprise::CapturedGraph graph = session.finish().graph;
  generate(state, graph, 1);
  generate(state, graph, 8);
  try {
    graph.launch();  // the cache is full
  } catch (const reprise::Error& error) {
    std::printf("%s\n", reprise::printable_lines(error.what()).c_str());
  }
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
