// Step 2 of docs/tutorial: two layers between an embedding and a head, recorded once and replayed.
#include <chrono>
#include <cstdio>
#include <vector>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

using reprise::Device, reprise::DType, reprise::Recorder, reprise::Tensor;

constexpr std::int64_t kVocabulary = 64, kDim = 32, kHidden = 64;
constexpr int kTokens = 200;

struct Layer {
  Tensor norm, gate, up, down;
};
struct Model {
  Tensor embedding, norm, head;
  std::vector<Layer> layers;
};

static Model make_model(const Device& device) {
  std::uint64_t seed = 0;
  const auto weight = [&](std::int64_t rows, std::int64_t columns, const char* name) {
    return device.normal({rows, columns}, DType::f32, ++seed, 0, 0.3, name);
  };
  const Tensor norm = device.ones({kDim}, DType::f32, "norm");
  Model m{weight(kVocabulary, kDim, "embedding"), norm, weight(kVocabulary, kDim, "head"), {}};
  for (int i = 0; i < 2; ++i) {
    m.layers.push_back({norm, weight(kHidden, kDim, "gate"), weight(kHidden, kDim, "up"),
                        weight(kDim, kHidden, "down")});
  }
  return m;
}

static Tensor feed_forward(Recorder& s, const Layer& w, const Tensor& x) {
  const auto scope = s.scope("ffn");
  const Tensor h = rms_norm(s, x, w.norm, {.eps = 1e-5F});
  const Tensor gate = matmul(s, h, w.gate);
  const Tensor up = matmul(s, h, w.up);
  return add(s, x, matmul(s, silu_mul(s, gate, up), w.down));
}

static void pass(reprise::GraphSession& s, const Model& m, std::int32_t token) {
  Tensor x = get_rows(s, m.embedding, s.input("token", {1}, std::vector<std::int32_t>{token}));
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const auto scope = s.scope("layer", static_cast<std::int32_t>(i));
    x = feed_forward(s, m.layers[i], x);
  }
  s.output("next", argmax(s, matmul(s, rms_norm(s, x, m.norm), m.head)));
}

/// Prints the first of 200 tokens, and the mean time of one.
template <class Next>
static void generate(const char* name, const Next& next) {
  const auto begin = std::chrono::steady_clock::now();
  std::printf("%s:", name);
  for (std::int32_t i = 0, token = 1; i < kTokens; ++i) {
    token = next(token);
    if (i < 8) {
      std::printf(" %d", token);
    }
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::printf(", %.1f us per token\n", time.count() / kTokens);
}

int main(int argc, char** argv) try {
  const Device device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device);
  const Model model = make_model(device);

  generate("direct", [&](std::int32_t token) {
    auto session = executor.begin({.name = "direct"});
    pass(session, model, token);
    return session.finish().read<std::int32_t>("next")[0];
  });
  auto recording = executor.begin_recorded({.name = "recorded"});
  pass(recording, model, 1);
  reprise::CapturedGraph graph = recording.finish().graph;
  generate("replay", [&](std::int32_t token) {
    graph.set_input("token", std::vector<std::int32_t>{token});
    graph.launch();
    return graph.read<std::int32_t>("next")[0];
  });
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
