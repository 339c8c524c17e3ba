// Records and finishes a graph of that many nodes, under callgrind: recording_cost_ratio.py.
// usage: recording_cost <nodes> none|exact layers|wide
#include <cstdio>
#include <string>
#include <vector>

#include "reprise/reprise.h"

namespace {

using reprise::DType, reprise::GraphSession, reprise::PassOptions, reprise::Tensor;

struct Weights {
  explicit Weights(const reprise::Device& device)
      : norm(device.zeros({kCols}, DType::f32, "norm")),
        square(device.zeros({kCols, kCols}, DType::f32, "square")),
        cache(device.zeros({64, kCols}, DType::f32, "cache")),
        state(device, reprise::StateLayout().host("row")) {}
  static constexpr std::int64_t kCols = 16;
  Tensor norm, square, cache;
  reprise::StateBlock state;
};

/// Ten nodes: products, a cache that is written and read, sums in place, one that nobody reads.
Tensor layer(GraphSession& s, const Weights& w, const Tensor& x, std::int32_t index) {
  const auto scope = s.scope("layer", index);
  const Tensor h = rms_norm(s, x, w.norm);
  const Tensor gate = matmul(s, h, w.square);
  const Tensor up = matmul(s, h, w.square);
  (void)mul(s, gate, w.norm);
  set_rows(s, w.cache, up, {.position = s.state("row")});
  const Tensor seen = get_rows(s, w.cache, s.state("row"));
  const Tensor product = silu_mul(s, gate, seen);
  return add(s, x, add(s, matmul(s, product, w.square), h));
}

Tensor layers(GraphSession& s, const Weights& w, const Tensor& first, std::int32_t nodes) {
  Tensor x = first;
  for (std::int32_t i = 0; i < nodes / 10; ++i) {
    x = layer(s, w, x, i);
  }
  return x;
}

/// Half of the nodes wait for nothing, and all their results are alive together.
Tensor wide(GraphSession& s, const Weights& w, const Tensor& x, std::int32_t nodes) {
  std::vector<Tensor> results;
  results.reserve(static_cast<std::size_t>(nodes / 2));
  for (std::int32_t i = 0; i < nodes / 2; ++i) {
    results.push_back(mul(s, x, w.norm));
  }
  Tensor sum = x;
  for (const Tensor& result : results) {
    sum = add(s, sum, result);
  }
  return sum;
}

}  // namespace

/// Apart and named, so that callgrind can be told to count what it does.
extern "C" [[gnu::noinline]] void count_this(reprise::GraphExecutor& executor, const Weights& w,
                                             std::int32_t nodes, const PassOptions& passes,
                                             decltype(wide)& record) {
  GraphSession s = executor.begin_recorded({.state = w.state});
  const Tensor x = s.input("x", {1, Weights::kCols}, std::vector<float>(Weights::kCols));
  s.output("y", record(s, w, x, nodes));
  (void)s.finish({.passes = passes, .run = false});
}

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool known = words.size() == 3 && (words[1] == "none" || words[1] == "exact") &&
                     (words[2] == "layers" || words[2] == "wide");
  if (!known) {
    std::fprintf(stderr, "usage: recording_cost <nodes> none|exact layers|wide\n");
    return 2;
  }
  const auto device = reprise::open_device("cpu");
  reprise::GraphExecutor executor(device);
  const Weights weights(device);
  count_this(executor, weights, std::stoi(words[0]),
             words[1] == "none" ? PassOptions::none() : PassOptions::exact(),
             words[2] == "wide" ? wide : layers);
}
