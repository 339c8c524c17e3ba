// A kernel of one's own, as GLSL for devices that run shaders and as a function for the CPU: a node
// of direct sessions and graphs, with a parameter that changes between replays.
#include <algorithm>
#include <cstdio>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"

// What both say of themselves: one tensor in, one out, and a slope that is a constant or a field of
// the state.
struct Push {
  reprise::Param<float> slope;
  std::uint32_t count;
};

static reprise::CustomKernel leaky_relu(const reprise::Device& device) {
  const char* const glsl = R"(
#version 450
#include "index.glsl"
#define STATE_BINDING 2
#include "state.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { Param slope; uint count; };

void main() {
  uint i = linear_index();
  if (i < count) {
    y[i] = max(x[i], param_float(slope) * x[i]);
  }
}
)";
  const auto on_host = [](const reprise::KernelRun& run) {
    const auto x = run.read<float>(0);
    const auto y = run.write<float>(1);
    const float slope = run.value(run.push<Push>().slope);
    std::ranges::transform(x, y.begin(), [&](float v) { return std::max(v, slope * v); });
  };
  const auto f32 = reprise::accepts({reprise::DType::f32});
  return device.compile_kernel(
      {.name = "leaky_relu", .glsl = glsl, .function = on_host},
      {.bindings = {{"x", reprise::Access::read, f32}, {"y", reprise::Access::write, f32}},
       .push_bytes = sizeof(Push),
       .fields = {{"slope", reprise::AttributeType::param_f32, 0},
                  {"count", reprise::AttributeType::i32, 8}},
       .constants = {{0, 64}}});  // invocations of a workgroup: see index.glsl
}

static void print(const char* what, const std::vector<float>& values) {
  std::printf("%s:", what);
  for (const float value : values) {
    std::printf(" %g", static_cast<double>(value));
  }
  std::printf("\n");
}

int main(int argc, char** argv) try {
  const auto device = reprise::open_device(argc > 1 ? argv[1] : "auto");
  reprise::GraphExecutor executor(device);
  const reprise::StateBlock state(device, reprise::StateLayout().host_f32("slope"));
  const std::vector<float> x{-4, -2, 0, 2, 4};
  const reprise::CustomKernel kernel = leaky_relu(device);

  const auto pass = [&](reprise::GraphSession& s, const reprise::Param<float>& slope) {
    const auto in = s.input("x", {5}, x);
    const auto out = dispatch(s, kernel, {in}, {{{5}, reprise::DType::f32}},
                              Push{.slope = slope, .count = 5}, {1, 1, 1});
    s.output("y", add(s, out[0], in));
  };

  auto direct = executor.begin({.name = "direct"});
  pass(direct, 0.25F);
  print("direct, 0.25", direct.finish().read("y"));

  auto recorded = executor.begin_recorded({.name = "recorded", .state = state});
  pass(recorded, recorded.state("slope"));
  auto graph = recorded.finish().graph;
  for (const float slope : {0.5F, 0.125F}) {
    graph.set_state("slope", slope);
    graph.launch();
    print(slope == 0.5F ? "replayed, 0.5" : "replayed, 0.125", graph.read("y"));
  }
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
