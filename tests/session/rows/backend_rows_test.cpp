// What a backend is, a capability per test: names, capabilities, tensors, memory, kernels, life.
#include <algorithm>

#include "reprise/session/support.h"
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

class BackendRows : public DeviceRows {
 protected:
  /// y = (x + x)^2
  static void pass_over(GraphSession& s, const Tensor& x) {
    const Tensor twice = add(s, x, x);
    s.output("y", mul(s, twice, twice));
  }
};
class BackendRowsInBothForms : public FormRows {};
INSTANTIATE_TEST_SUITE_P(On, BackendRows, ::testing::Values("cpu", "vulkan"), device_param_name);
INSTANTIATE_TEST_SUITE_P(On, BackendRowsInBothForms, both_forms(), form_name);

TEST_P(BackendRows, ABackendHasANameAVersionAndDevicesThatAreListedAndOpenedByName) {
  const auto all = backends();
  const auto backend = std::ranges::find(all, GetParam(), &BackendName::name);
  ASSERT_NE(backend, all.end());
  EXPECT_FALSE(backend->version.empty());
  const auto devices = reprise::enumerate();
  const auto found =
      std::ranges::find(devices, GetParam() + ":0", [](const FoundDevice& d) { return d.name; });
  ASSERT_NE(found, devices.end());
  EXPECT_EQ(found->info.backend_version, backend->version);
  EXPECT_EQ(open_device(GetParam() + ":0").info().name, found->info.name);
}

TEST_P(BackendRows, CapabilitiesComeFromTheDeviceAndUnmetRequirementsAreAllListed) {
  const BackendCapabilities& has = device_.capabilities();
  EXPECT_EQ(has.runs_on_host, GetParam() == "cpu");
  EXPECT_GT(has.timestamp_valid_bits, 0U);
  ASSERT_FALSE(has.heaps.empty());
  if (GetParam() == "vulkan") {
    const auto limit = [&](const std::string& name) {
      const auto& limits = device_.info().limits;
      return std::ranges::find(limits, name, [](const auto& l) { return l.first; })->second;
    };
    EXPECT_EQ(has.shared_bytes, limit("maxComputeSharedMemorySize"));
    EXPECT_EQ(has.push_bytes, limit("maxPushConstantsSize"));
    EXPECT_EQ(has.subgroup_size, limit("subgroupSize"));
    EXPECT_EQ(has.state_bytes, limit("maxUniformBufferRange"));
    EXPECT_EQ(has.max_workgroup_invocations, limit("maxComputeWorkGroupInvocations"));
    EXPECT_EQ(has.buffer_bytes, std::min(limit("maxBufferSize"), limit("maxMemoryAllocationSize")));
  }
  EXPECT_TRUE(device_.meets({.backend = GetParam(), .timestamps = true}));
  EXPECT_EQ(device_.unmet({.backend = "abacus", .memory_bytes = ~std::uint64_t{0}}).size(), 2U);
}

TEST_P(BackendRows, ACallIsNativeLoweredOrUnsupportedWithAReason) {
  const TensorSpec rows{{2, 32}, DType::f32}, few{{2, 31}, DType::f32};
  const TensorSpec fits[] = {rows, rows}, differs[] = {rows, few};
  EXPECT_EQ(supports(executor_, "add", fits).kind, SupportKind::native);
  const Support not_at_all = supports(executor_, "add", differs);
  EXPECT_EQ(not_at_all.kind, SupportKind::unsupported);
  EXPECT_NE(not_at_all.reason.find("31"), std::string::npos) << not_at_all.reason;
  GraphExecutor oracle(test_device("reference"));
  const Support by_reference = supports(oracle, "add", fits);
  EXPECT_EQ(by_reference.kind, SupportKind::lowered);
  EXPECT_NE(by_reference.reason.find("reference"), std::string::npos) << by_reference.reason;
}

TEST_P(BackendRowsInBothForms, TensorsAreMadeByTheDeviceViewedAndReadBack) {
  const Tensor counts = device_.arange({2, 4}, DType::f32, 0, 1, "counts");
  const Tensor ones = device_.ones({2, 4}, DType::f32), half = device_.full({2, 4}, DType::f32, .5);
  EXPECT_EQ(host(device_.zeros({3}, DType::f32)), (Floats{0, 0, 0}));
  EXPECT_EQ(device_.empty({3}, DType::f16).spec().bytes(), 6U);
  const Device other = open_device(GetParam().device == "cpu" ? "vulkan" : "cpu");
  EXPECT_EQ(device_.to_host(device_.uniform({100}, DType::f32, 7, -1, 1)),
            other.to_host(other.uniform({100}, DType::f32, 7, -1, 1)));
  EXPECT_EQ(device_.to_host(device_.normal({100}, DType::f32, 7, 0, 1)),
            other.to_host(other.normal({100}, DType::f32, 7, 0, 1)));
  auto s = begin();
  const Tensor sum = add(s, mul(s, counts, half), ones);
  s.output("y", copy(s, permute(s, slice(s, sum, 1, 1, 2), {1, 0})));
  EXPECT_EQ(s.finish().read("y"), (Floats{1.5, 3.5, 2, 4}));
}

TEST_P(BackendRows, MemoryIsAllocatedCopiedCountedBoundedAndGivenBack) {
  OpenOptions options;
  options.memory_budget = 1U << 20U;
  std::vector<MemoryPressure> pressure;
  options.on_memory_pressure = [&](MemoryPressure level, const MemoryInfo&) {
    pressure.push_back(level);
  };
  const Device device = open_device(GetParam(), options);
  const auto aligned = device.allocate("aligned", 100, BufferKind::device, 64);
  const Tensor a = device.from_host({4}, x_, "a"), b = device.zeros({4}, DType::f32, "b");
  device.copy(a, b);
  EXPECT_EQ(device.to_host<float>(b), x_);
  device.copy_async(device.from_host({4}, other_), b).wait();
  EXPECT_EQ(device.to_host<float>(b), other_);
  EXPECT_EQ(device.memory().of(MemoryPurpose::tensors).buffers, 3U);
  EXPECT_THROW((void)device.zeros({1 << 20}, DType::f32, "beyond"), Error);
  EXPECT_EQ(pressure, std::vector{MemoryPressure::critical});
  device.free(a);
  EXPECT_EQ(device.memory().of(MemoryPurpose::tensors).buffers, 2U);
  GraphExecutor executor(device, {.arenas = {.first_chunk_bytes = 256}});
  {
    auto s = executor.begin();
    pass_over(s, b);
    EXPECT_EQ(s.finish().read("y"), (Floats{100, 144, 196, 256}));
  }
  executor.defragment();
  EXPECT_EQ(device.memory().of(MemoryPurpose::arenas).buffers, 1U);
  executor.trim();
  EXPECT_EQ(device.memory().of(MemoryPurpose::arenas).buffers, 0U);
}

TEST_P(BackendRowsInBothForms, AKernelOfTheCallersIsANodeWithFacts) {
  struct Push {
    float scale;
    std::uint32_t count;
  };
  const auto f32 = accepts({DType::f32});
  const CustomKernel scale = device_.compile_kernel(
      {.name = "scale",
       .glsl = R"(
#version 450
#include "index.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { float scale; uint count; };
void main() {
  uint i = linear_index();
  if (i < count) {
    y[i] = scale * x[i];
  }
}
)",
       .function =
           [](const KernelRun& run) {
             const auto x = run.read<float>(0);
             std::ranges::transform(x, run.write<float>(1).begin(),
                                    [&](float v) { return run.push<Push>().scale * v; });
           }},
      {.bindings = {{"x", Access::read, f32}, {"y", Access::write, f32}},
       .push_bytes = sizeof(Push),
       .constants = {{0, 64}}});
  auto s = begin();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor scaled =
      dispatch(s, scale, {add(s, x, x)}, {{{4}, DType::f32}}, Push{10, 4}, {1, 1, 1})[0];
  s.output("y", mul(s, scaled, w_));
  EXPECT_EQ(s.finish().read("y"), (Floats{20, 400, 6000, 80000}));
  EXPECT_EQ(scale.info().push_bytes, sizeof(Push));
  EXPECT_EQ(scale.info().local_size.has_value(), GetParam().device == "vulkan");
  EXPECT_EQ(scale.info().create_ns.has_value(), GetParam().device == "vulkan");
}

TEST_P(BackendRows, ADeviceIsOpenedSynchronizedAskedAndShutDown) {
  const Device device = open_device_async(GetParam()).get();
  GraphExecutor executor(device);
  const Tensor w = device.from_host({4}, x_, "w");
  auto s = executor.begin_recorded();
  pass_over(s, w);
  CapturedGraph graph = s.finish().graph;
  const Ticket launched = graph.launch_async();
  device.synchronize_async().wait();
  EXPECT_TRUE(launched.done());
  device.synchronize();
  DeviceStatus status = device.status();
  EXPECT_EQ(status.state, DeviceState::ready);
  EXPECT_EQ(status.submitted, status.completed);
  device.shutdown();
  status = device.status();
  EXPECT_EQ(status.state, DeviceState::shut_down);
  expect_error(ErrorCode::shut_down, {"open it again"}, [&] { graph.launch(); });
  EXPECT_EQ(launched.read("y"), (Floats{4, 16, 36, 64}));
}

}  // namespace
}  // namespace reprise::testing
