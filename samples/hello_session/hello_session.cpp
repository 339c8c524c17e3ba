// The smallest program: y = silu(x) * (x * w^T), once in a direct session, then recorded and
// replayed.
#include <cstdio>
#include <vector>

#include "reprise/reprise.h"

int main() {
  const auto device = reprise::open_device("auto");
  reprise::GraphExecutor executor(device);
  const auto w = device.from_host({4, 4}, std::vector<float>(16, 1.0F), "w");
  const auto pass = [&](reprise::GraphSession& s) {
    const auto x = s.input("x", {1, 4}, std::vector<float>{1, 2, 3, 4});
    s.output("y", silu_mul(s, x, matmul(s, x, w)));
  };
  auto direct = executor.begin();  // runs its ops as one submission
  pass(direct);
  std::printf("direct:   y[0] = %g\n", direct.finish().read("y")[0]);

  auto graph = executor.capture(pass).graph;  // records the same ops
  for (const float value : {0.0F, 1.0F, 2.0F}) {
    graph.set_input("x", std::vector<float>(4, value));
    graph.launch();
    std::printf("replayed: y[0] = %g\n", graph.read("y")[0]);
  }
}
