// A pass compiled once and run by name: weights are params, a running sum stays on the device in a
// handle, and two recordings serve every number of rows up to eight.
#include <cstdio>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

using reprise::GraphSession, reprise::Tensor;

static void pass(GraphSession& s) {
  const Tensor x = s.input("x", {s.extent("rows"), 4});
  const Tensor y = mul(s, x, s.param("scale", {4}));
  s.output("y", y);
  const Tensor last = get_rows(s, y, s.state("last"));
  s.output("sum", add(s, s.input("sum", {1, 4}), last));
}

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device);
  auto layout = reprise::StateLayout().host("rows", 1).derived("last", reprise::field("rows") + -1);
  reprise::ExecutableGraph graph(executor, pass,
                                 {.state = layout, .extent = "rows", .buckets = {2, 8}});
  graph.set_param("scale", std::vector<float>{1, 10, 100, 1000});
  graph.create_handle({.name = "sum", .shape = {1, 4}});
  graph.feed("sum", "sum", {.mode = reprise::FeedMode::swap});

  for (const std::size_t rows : {1U, 3U, 8U}) {
    const std::vector<float> x(rows * 4, static_cast<float>(rows));
    const auto run = graph.run({{"x", x}});
    std::printf("%zu rows: y has %zu values, y[0] = %g\n", rows, run.read("y").size(),
                run.read("y")[0]);
  }
  std::printf("sum: %g %g %g %g\n", graph.read("sum")[0], graph.read("sum")[1],
              graph.read("sum")[2], graph.read("sum")[3]);

  auto other = graph.fork();  // the same weights and plans, its own handles
  const std::vector<float> ones(4, 1);
  const std::vector<std::vector<reprise::NamedInput>> runs(3, {{"x", ones}});
  other.run_pipelined(runs, [](std::size_t, const reprise::Ticket&) {});
  std::printf("fork: %g, first: %g\n", other.read("sum")[0], graph.read("sum")[0]);
  try {
    graph.run();
  } catch (const reprise::Error& error) {
    std::printf("%s\n", std::string(name_of(error.code())).c_str());
  }
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
