// The smallest program: y = silu(x) * (x * w^T), once directly, then recorded and replayed.
#include <cstdio>
#include <vector>

#include "reprise/reprise.h"

static reprise::Tensor gated(reprise::Recorder& s, const reprise::Tensor& x,
                             const reprise::Tensor& w) {
  const auto scope = s.scope("gated");
  return silu_mul(s, x, matmul(s, x, w));
}

int main() {
  const auto device = reprise::open_device("auto");
  reprise::GraphExecutor executor(device);
  const auto w = device.from_host({4, 4}, std::vector<float>(16, 1.0F), "w");
  const std::vector<float> x{1, 2, 3, 4};

  auto direct = executor.begin();  // encoded as called, one submission in finish()
  direct.output("y", gated(direct, direct.input("x", {1, 4}, x), w));
  std::printf("direct:   y[0] = %g\n", direct.finish().read("y")[0]);

  auto recorded = executor.begin_recorded();  // the same calls, captured
  recorded.output("y", gated(recorded, recorded.input("x", {1, 4}, x), w));
  auto graph = recorded.finish().graph;
  for (const float value : {0.0F, 1.0F, 2.0F}) {
    graph.set("x", std::vector<float>(4, value));
    graph.launch();
    std::printf("replayed: y[0] = %g\n", graph.read("y")[0]);
  }
}
