// Step 6 of docs/tutorial: a kernel of our own in the place of rope, and what finds its mistakes.
// usage: 6_own_kernel MODEL PROMPT [DEVICE]
#include <cstdio>

#include "generate.h"
#include "model_file.h"
#include "reprise/core/printable.h"
#include "rotate_kernel.h"

using reprise::Device, reprise::GraphExecutor, reprise::GraphSession, reprise::Tensor;
using tutorial::Model, tutorial::rotate, tutorial::rotate_kernel;

/// The op and the kernel on the same heads.
static void compare_with_op(GraphExecutor& executor, const reprise::CustomKernel& kernel) {
  auto s = executor.begin({.name = "compare"});
  const Tensor x = s.input("x", {1, 1, 8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  s.output("op", rope(s, x, {.position = 7}));
  s.output("kernel", rotate(s, kernel, x, 7));
  const reprise::FinishResult result = s.finish();
  const auto op = result.read("op"), own = result.read("kernel");
  const auto deviation = reprise::deviation_of(reprise::DType::f32, std::as_bytes(std::span(own)),
                                               std::as_bytes(std::span(op)), 1e-3);
  std::printf("beside rope: differs by %.3f at most\n", deviation.max_rel);
}

static auto with_kernel(const reprise::CustomKernel& kernel) {
  return [kernel](reprise::Recorder& s, const Tensor& x) {
    return rotate(s, kernel, x, s.state("pos"));
  };
}

/// Mistake 1: the position is a number of the host, so a recording keeps it.
static void check_baked_position(GraphExecutor& executor, const reprise::CustomKernel& kernel) {
  std::int32_t position = 0;
  const reprise::RecordFunction pass = [&](GraphSession& s) {
    const Tensor x = s.input("x", {1, 1, 4}, std::vector<float>{1, 2, 3, 4});
    s.output("y", rotate(s, kernel, x, position++));
  };
  std::printf("lint: %s\n", reprise::lint(executor, pass).text().c_str());
  std::printf("verify: %s\n", reprise::verify(executor, pass).text().c_str());
}

/// A graph of one decode step at position 5, with the kernel.
static reprise::CapturedGraph record(GraphExecutor& executor, const reprise::GgufFile& file,
                                     float base) {
  Model model = tutorial::load_model(executor.device(), file, 256);
  model.rotate = with_kernel(rotate_kernel(executor.device(), base));
  const reprise::StateBlock state(executor.device(), state_layout(model.sizes));
  state.set("pos", 5);
  const auto pass = [&](GraphSession& s) { decode_step(s, model); };
  return executor.capture(pass, {.name = "decode", .state = state}, {.run = false}).graph;
}

/// Mistake 2: the function of the CPU has another base than the GLSL.
static void compare_with_cpu(GraphExecutor& executor, const reprise::GgufFile& file, float base) {
  GraphExecutor on_cpu(reprise::open_device("cpu"));
  auto graph = record(executor, file, 10000);
  auto reference = record(on_cpu, file, base);
  const auto first = compare_numerics(graph, reference).first_diverging();
  std::printf("base %.0f on the CPU: first difference: %s\n", base,
              first ? first->name.c_str() : "none");
}

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 6_own_kernel MODEL PROMPT [DEVICE]\n");
    return 2;
  }
  const auto file = reprise::GgufFile::open(argv[1]);
  const reprise::Tokenizer tokenizer(file);
  const Device device = reprise::open_device(argc > 3 ? argv[3] : "auto");
  GraphExecutor executor(device);
  const reprise::CustomKernel kernel = rotate_kernel(device);
  compare_with_op(executor, kernel);
  Model model = tutorial::load_model(device, file, 256);
  const std::string with_op = tutorial::generate(executor, model, tokenizer, argv[2], 64);
  model.rotate = with_kernel(kernel);
  const std::string own = tutorial::generate(executor, model, tokenizer, argv[2], 64);
  std::printf("text: %s\n", own == with_op ? "equal" : "different");
  check_baked_position(executor, kernel);
  compare_with_cpu(executor, file, 10000);
  compare_with_cpu(executor, file, 500000);
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
