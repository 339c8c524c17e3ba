// The smallest program: y = silu(x * g^T) * (x * u^T), once directly, then recorded and replayed.
#include <cstdio>
#include <vector>

#include "reprise/reprise.h"

static reprise::Tensor gated(reprise::Recorder& s, const reprise::Tensor& x,
                             const reprise::Tensor& gate, const reprise::Tensor& up) {
  const auto scope = s.scope("gated");
  return silu_mul(s, matmul(s, x, gate), matmul(s, x, up));
}

int main() {
  const reprise::Device device = reprise::open_device("auto");
  reprise::GraphExecutor executor(device);
  const std::vector<float> ones(4 * 8, 1.0F), x{1, 2, 3, 4, 5, 6, 7, 8};
  const auto gate = device.from_host({4, 8}, ones, "gate"), up = device.from_host({4, 8}, ones, "up");

  auto direct = executor.begin();  // encoded as called; one submission in finish()
  direct.output("y", gated(direct, direct.input("x", {1, 8}, x), gate, up));
  std::printf("direct:   y[0] = %g\n", static_cast<double>(direct.finish().read("y")[0]));

  auto recorded = executor.begin_recorded();  // the same calls, captured
  recorded.output("y", gated(recorded, recorded.input("x", {1, 8}, x), gate, up));
  auto graph = recorded.finish().graph;
  for (const float value : {0.0F, 1.0F, 2.0F}) {
    graph.set("x", std::vector<float>(8, value));
    graph.launch();
    std::printf("replayed: y[0] = %g\n", static_cast<double>(graph.read("y")[0]));
  }
}
