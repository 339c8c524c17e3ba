// Where numbers go wrong: what tensors hold in the middle of replays, the first result that is not
// a number, and a graph node by node beside the same pass elsewhere.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"
#include "reprise/sql_query.h"

using reprise::GraphSession, reprise::Tensor;

namespace {

constexpr std::int64_t kDim = 8;

/// Two layers; `scale` is in the second one.
reprise::RecordFunction pass_on(const reprise::Device& device, float scale) {
  return [=](GraphSession& s) {
    Tensor x = s.input("x", {2, kDim}, std::vector<float>(2 * kDim, 0.5F));
    for (std::int32_t layer = 0; layer < 2; ++layer) {
      const auto scope = s.scope("layer", layer);
      const Tensor w = device.normal({kDim, kDim}, reprise::DType::f32, 7, 0, 0.3, "w");
      const Tensor h = rms_norm(s, matmul(s, x, w), {}, {.eps = 1e-5F});
      const Tensor factor = device.full({2, kDim}, reprise::DType::f32, layer == 1 ? scale : 1);
      x = add(s, x, mul(s, h, factor));
    }
    s.output("y", x);
  };
}

void print(reprise::LogLevel level, std::string_view message) {
  if (level == reprise::LogLevel::warning) {
    std::printf("%s\n", reprise::printable_lines(message).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  const std::filesystem::path file = argc > 2 ? argv[2] : "watch_tensors.db";

  reprise::GraphExecutor executor(device, {.profile = file, .log = print});
  executor.set_watches({{.tensors = "layer.*/mul", .every = 7, .contents = true},
                        {.every = 50, .not_finite = true}});
  auto graph = executor.capture(pass_on(device, 1), {.name = "layers"}).graph;
  for (int i = 0; i < 99; ++i) {
    graph.launch();
    executor.count("y[0]", graph.read("y")[0]);
  }
  graph.set_input("x", std::vector<float>(2 * kDim, INFINITY));
  graph.launch();

  const auto host = reprise::open_device("cpu");
  reprise::GraphExecutor reference(host);
  auto exact = reference.capture(pass_on(host, 1)).graph;
  auto wrong = executor.capture(pass_on(device, 1.01F)).graph;
  const reprise::NumericsReport report = compare_numerics(wrong, exact);
  if (const auto first = report.first_diverging()) {
    std::printf("first at %s, by %.3f\n", first->name.c_str(), first->deviation.max_rel);
  }

  executor.shutdown();
  const auto snapshots =
      reprise::run_sql(file, "SELECT count(*) FROM snapshots WHERE nbytes = 2 * 8 * 4");
  std::printf("%lld snapshots\n",
              static_cast<long long>(std::get<std::int64_t>(snapshots.rows[0][0])));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(e.what()).c_str());
  return 1;
}
