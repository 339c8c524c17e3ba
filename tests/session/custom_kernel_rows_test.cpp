// Kernels of the caller's own over tensors with an extent: they run for the rows of the launch.
#include "tests/session/custom_kernels.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kBucket = 12, kColumns = 7;
constexpr std::uint32_t kLocal = 32;

/// product(x, w) of `kBucket` rows, in groups along an axis, and in the tensor "groups" how many
/// there were.
struct RowsPush {
  std::uint32_t count;
};

CustomKernel counting_kernel(const Device& device, std::uint32_t axis) {
  const std::string number = "gl_WorkGroupID[" + std::to_string(axis) + "]";
  const auto on_host = [](const KernelRun& run) {
    std::ranges::transform(run.read<float>(0), run.read<float>(1), run.write<float>(3).begin(),
                           std::multiplies<>());
    run.write<std::int32_t>(2)[0] = static_cast<std::int32_t>(run.spec(0).shape.dim(0));
  };
  return device.compile_kernel({.name = "counting",
                                .glsl = "#version 450\n"
                                        "layout(local_size_x = 32) in;\n"
                                        "layout(binding = 0) readonly buffer X { float x[]; };\n"
                                        "layout(binding = 1) readonly buffer W { float w[]; };\n"
                                        "layout(binding = 2) buffer G { int groups; };\n"
                                        "layout(binding = 3) writeonly buffer Y { float y[]; };\n"
                                        "layout(push_constant) uniform Push { uint count; };\n"
                                        "void main() {\n"
                                        "  uint i = " +
                                        number +
                                        " * 32 + gl_LocalInvocationID.x;\n"
                                        "  if (i < count) { y[i] = x[i] * w[i]; }\n"
                                        "  if (i == 0) { groups = int(gl_NumWorkGroups[" +
                                        std::to_string(axis) +
                                        "]); }\n"
                                        "}\n",
                                .function = on_host},
                               {.bindings = {{"x", Access::read, kFloats},
                                             {"w", Access::read, kFloats},
                                             {"groups", Access::read_write, accepts({DType::i32})},
                                             {"y", Access::write, kFloats}},
                                .push_bytes = sizeof(RowsPush),
                                .fields = {{"count", AttributeType::i32, 0}},
                                .rows_axis = axis});
}

class CustomKernelRows : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::uint32_t kCount = kBucket * kColumns;
  static constexpr std::uint32_t kGroups = (kCount + kLocal - 1) / kLocal;

  Tensor call(GraphSession& s, const CustomKernel& kernel, const Tensor& x) const {
    Grid grid{1, 1, 1};
    grid[*kernel.interface().rows_axis] = kGroups;
    return dispatch(s, kernel, {x, w_, groups_},
                    {TensorSpec({x.shape().extent(0), kColumns}, DType::f32)}, RowsPush{kCount},
                    grid)[0];
  }
  void record(GraphSession& s, const CustomKernel& kernel) const {
    s.output("y", call(s, kernel, s.input("x", {s.extent("rows"), kColumns}, x_)));
  }
  SessionOptions options() const { return {.state = state_, .extents = {{"rows", kBucket}}}; }
  Values expected(std::int64_t rows) const {
    Values y;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows * kColumns); ++i) {
      y.push_back(x_[i] * w_values_[i]);
    }
    return y;
  }
  /// What a launch of so many rows left; the kernel did not run for none.
  void expect_groups(std::int64_t rows) const {
    const bool on_host = device_.info().backend == "cpu";
    const std::int64_t needed = (rows * kGroups + kBucket - 1) / kBucket;
    EXPECT_EQ(device_.to_host<std::int32_t>(groups_)[0], on_host ? rows : needed);
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const StateBlock state_{device_, StateLayout().host("rows", 1, {.low = 0, .high = kBucket})};
  const Values x_ = random_values(rng_, kCount), w_values_ = random_values(rng_, kCount);
  const Tensor w_ = device_.from_host({kBucket, kColumns}, w_values_, "w");
  const Tensor groups_ = device_.zeros({1}, DType::i32, "groups");
};
INSTANTIATE_TEST_SUITE_P(On, CustomKernelRows, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(CustomKernelRows, RunTheWorkgroupsThatTheRowsOfALaunchNeedAlongAnyAxis) {
  for (const std::uint32_t axis : {0U, 1U, 2U}) {
    auto s = executor_.begin_recorded(options());
    record(s, counting_kernel(device_, axis));
    CapturedGraph graph = s.finish().graph;
    for (const std::int32_t rows : {1, 12, 5, 11, 2}) {
      state_.set("rows", rows);
      graph.launch();
      EXPECT_EQ(graph.read("y"), expected(rows)) << "axis " << axis << ", rows " << rows;
      expect_groups(rows);
    }
  }
}

TEST_P(CustomKernelRows, WriteNothingForNoRows) {
  auto s = executor_.begin_recorded(options());
  record(s, counting_kernel(device_, 0));
  state_.set("rows", 3);
  CapturedGraph graph = s.finish().graph;
  expect_groups(3);
  state_.set("rows", 0);
  graph.launch();
  expect_groups(3);
}

TEST_P(CustomKernelRows, HaveTheRowsOfTheFieldInDirectSessions) {
  state_.set("rows", 4);
  auto s = executor_.begin(options());
  record(s, counting_kernel(device_, 1));
  EXPECT_EQ(s.finish().read("y"), expected(4));
  expect_groups(4);
}

TEST_P(CustomKernelRows, OfFixedShapesRunTheirWholeGrid) {
  auto s = executor_.begin();
  s.output("y", call(s, counting_kernel(device_, 0), s.input("x", {kBucket, kColumns}, x_)));
  EXPECT_EQ(s.finish().read("y"), expected(kBucket));
  expect_groups(kBucket);
}

TEST_P(CustomKernelRows, RefuseResultsWithoutTheExtentOrWithAnUnknownOne) {
  const CustomKernel kernel = counting_kernel(device_, 0);
  auto s = executor_.begin_recorded(options());
  const Tensor x = s.input("x", {s.extent("rows"), kColumns}, x_);
  expect_error(
      ErrorCode::invalid_argument,
      {"'counting' is to make 'y' as (f32 [12, 7])", "make it of x.shape().extent(0) rows"}, [&] {
        (void)dispatch(s, kernel, {x, w_, groups_}, {TensorSpec({kBucket, kColumns}, DType::f32)},
                       RowsPush{kCount}, {kGroups, 1, 1});
      });
  auto t = executor_.begin_recorded(options());
  expect_error(ErrorCode::invalid_argument,
               {"'counting' is to make 'y' as", "no tensor it reads has that extent"}, [&] {
                 (void)dispatch(t, kernel, {w_, w_, groups_},
                                {TensorSpec({t.extent("rows"), kColumns}, DType::f32)},
                                RowsPush{kCount}, {kGroups, 1, 1});
               });
}

TEST_P(CustomKernelRows, RefuseAnAxisThatNoGridHas) {
  expect_error(ErrorCode::invalid_argument, {"'counting' takes rows along axis (3)", "0 to 2"},
               [&] { (void)counting_kernel(device_, 3); });
}

}  // namespace
}  // namespace reprise::testing
