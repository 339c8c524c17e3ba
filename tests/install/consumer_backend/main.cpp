// A program of another project that brings a backend of its own. Exits with 0 if a graph that was
// recorded on it is right.
#include <cstdio>

#include "reprise/reprise.h"
#include "tests/reference_backend.h"

int main() {
  reprise::testing::register_reference_backend();
  const auto device = reprise::open_device("reference");
  reprise::GraphExecutor executor(device);
  const auto w = device.arange({2, 2}, reprise::DType::f32, 1);

  auto session = executor.begin_recorded();
  const auto x = session.input("x", {1, 2}, std::vector<float>{1, 1});
  session.output("y", matmul(session, x, w));
  auto graph = session.finish().graph;
  graph.set_input("x", std::vector<float>{10, 100});
  graph.launch();
  const std::vector<float> y = graph.read("y");
  std::printf("%s: %g %g\n", device.info().name.c_str(), y[0], y[1]);
  return y == std::vector<float>{210, 430} ? 0 : 1;
}
