// What is refused of kernels of the caller's: interfaces that do not match, calls, and functions
// that fail.
#include <functional>
#include <ostream>

#include "reprise/backend/backend.h"
#include "tests/session/custom_kernels.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kCount = 64;

class CustomKernelErrors : public ::testing::Test {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device("vulkan");
  GraphExecutor executor_{device_};
};

struct Mismatch {
  std::string what;
  std::string declarations, body;
  KernelInterface interface;
  std::vector<std::string> parts;
};

void PrintTo(const Mismatch& row, std::ostream* out) { *out << row.what; }

std::vector<Mismatch> mismatches() {
  const std::string x = kX, y = kY;
  const auto with = [](auto change) {
    KernelInterface interface = copy_interface();
    change(interface);
    return interface;
  };
  const std::string push = "layout(push_constant) uniform Push { uint count; uint more; };\n";
  return {
      {"missing",
       x + y,
       kCopy,
       with([](auto& i) {
         i.bindings.push_back({"z", Access::write});
       }),
       {"binding (2) 'z'", "nothing bound there"}},
      {"superfluous",
       x + y + "layout(binding = 2) buffer Z { float z[]; };\n",
       "y[i] = x[i]; z[i] = 1;",
       copy_interface(),
       {"a storage buffer as binding (2)", "ends with binding (1) 'y'"}},
      {"far_binding",
       x + "layout(binding = 60000) buffer Y { float y[]; };\n",
       kCopy,
       copy_interface(),
       {"binding (60000)", "up to 31"}},
      {"uniform",
       "layout(binding = 0) uniform X { float x; };\n" + y,
       "y[i] = x;",
       copy_interface(),
       {"binding (0) 'x' as (read)", "a uniform buffer there"}},
      {"texels",
       "layout(binding = 0) uniform textureBuffer x;\n" + y,
       "y[i] = texelFetch(x, int(i)).x;",
       copy_interface(),
       {"binding (0) 'x' as (read)", "a texel buffer there"}},
      {"may_write",
       "layout(binding = 0) buffer X { float x[]; };\n" + y,
       kCopy,
       copy_interface(),
       {"binding (0) 'x' as (read)", "may write it"}},
      {"readonly",
       x + "layout(binding = 1) readonly buffer Y { float y[]; };\n"
           "shared float sink;\n",
       "sink = x[i] + y[i];",
       copy_interface(),
       {"binding (1) 'y' as (write)", "readonly"}},
      {"read_write_readonly",
       x + y,
       kCopy,
       with([](auto& i) { i.bindings[0].access = Access::read_write; }),
       {"binding (0) 'x' as (read_write)", "readonly"}},
      {"another_set",
       x + "layout(set = 1, binding = 1) writeonly buffer Y { float y[]; };\n",
       kCopy,
       copy_interface(),
       {"set 0"}},
      {"image",
       x + y + "layout(binding = 2, r32f) uniform image2D pixels;\n",
       "y[i] = x[i] + imageLoad(pixels, ivec2(0)).x;",
       copy_interface(),
       {"binding (2)"}},
      {"push_missing",
       x + y,
       kCopy,
       with([](auto& i) { i.push_bytes = 8; }),
       {"declares (8) bytes of push constants", "has 0"}},
      {"push_superfluous",
       x + y + push,
       "y[i] = x[i] + count;",
       copy_interface(),
       {"declares (0) bytes of push constants", "has 8"}},
      {"state_missing",
       x + y + push,
       "y[i] = x[i] + more;",
       with([](auto& i) {
         i.push_bytes = 8;
         i.fields = {{"gain", AttributeType::param_f32, 0}};
       }),
       {"does not bind the state block as binding (2)", "STATE_BINDING"}},
      {"state_superfluous",
       x + y + "#define STATE_BINDING 2\n#include \"state.glsl\"\n",
       "y[i] = x[i] + float(state.words[0].x);",
       copy_interface(),
       {"a uniform buffer as binding (2)", "no field that may live in the state"}},
      {"constant_missing",
       x + y,
       kCopy,
       with([](auto& i) {
         i.constants = {{3, 1}};
       }),
       {"specialization constant (3)", "has none"}},
      {"another_constant",
       x + y + "layout(constant_id = 5) const uint five = 5;\n",
       "y[i] = x[i] + five;",
       with([](auto& i) {
         i.constants = {{3, 1}};
       }),
       {"specialization constant (3)", "ids 5"}},
      {"wide_constant",
       x + y + "layout(constant_id = 5) const double five = 5;\n",
       "y[i] = x[i] + float(five);",
       with([](auto& i) {
         i.constants = {{5, 1}};
       }),
       {"odd"}},
  };
}

class KernelMismatches : public ::testing::TestWithParam<Mismatch> {};
INSTANTIATE_TEST_SUITE_P(Of, KernelMismatches, ::testing::ValuesIn(mismatches()),
                         [](const auto& row) { return row.param.what; });

TEST_P(KernelMismatches, AreRefusedNamingTheBinding) {
  const ExpectNoValidationMessages quiet;
  const Mismatch& row = GetParam();
  try {
    (void)test_device("vulkan").compile_kernel(shader(row.declarations, row.body), row.interface);
    FAIL() << "no error was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(error.code() == ErrorCode::invalid_argument ||
                error.code() == ErrorCode::unsupported)
        << text;
    for (const std::string& part : row.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    }
  }
}

TEST_F(CustomKernelErrors, OfLimitsComeBeforeTheDriver) {
  const std::string x = kX, y = kY;
  expect_error(ErrorCode::unsupported, {"bytes of shared memory (67108864)"}, [&] {
    (void)device_.compile_kernel(
        shader(x + y + "shared float all[16777216];\n", "all[i] = x[i]; y[i] = all[i + 1];"),
        copy_interface());
  });
  KernelSource wide = shader(x + y, kCopy);
  wide.glsl.replace(wide.glsl.find("local_size_x = 8"), 16, "local_size_x_id = 0");
  KernelInterface interface = copy_interface();
  interface.constants = {{0, 1U << 30U}};
  expect_error(ErrorCode::unsupported, {"workgroup size of (1073741824)"},
               [&] { (void)device_.compile_kernel(wide, interface); });
  interface.constants = {{0, 0}};
  expect_error(ErrorCode::invalid_argument, {"odd"},
               [&] { (void)device_.compile_kernel(wide, interface); });
}

TEST_F(CustomKernelErrors, SharedMemoryIsWhatConstantsMakeOfIt) {
  KernelSource source =
      shader(std::string(kX) + kY +
                 "layout(constant_id = 7) const uint kept = 3;\n"
                 "shared vec3 all[kept];\nshared float one;\n",
             "one = x[i]; all[0].x = one; y[i] = all[0].x;  // one comes first, aligned");
  KernelInterface interface = copy_interface();
  EXPECT_EQ(device_.compile_kernel(source, interface).info().shared_bytes, 16 + 3 * 16);
  interface.constants = {{7, 10}};
  EXPECT_EQ(device_.compile_kernel(source, interface).info().shared_bytes, 16 + 10 * 16);
}

struct BadCall {
  std::string what;
  ErrorCode code;
  std::vector<std::string> parts;
  std::function<void(GraphSession&, const CustomKernel&, const Tensor&)> call;
};

void PrintTo(const BadCall& row, std::ostream* out) { *out << row.what; }

std::vector<BadCall> bad_calls() {
  const TensorSpec out({kCount}, DType::f32);
  const CountPush push{64};
  constexpr auto kInvalid = ErrorCode::invalid_argument;
  return {
      {"too_few_inputs",
       kInvalid,
       {"takes 2 tensors and makes 1", "(1) and (1)"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x}, {out}, push, {2, 1, 1});
       }},
      {"too_many_inputs",
       kInvalid,
       {"takes 2 tensors", "(3) and (1)"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x, x}, {out}, push, {2, 1, 1});
       }},
      {"no_output",
       kInvalid,
       {"makes 1", "(2) and (0)"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {}, push, {2, 1, 1});
       }},
      {"short_push",
       kInvalid,
       {"takes 4 bytes of push constants, but got (0)"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {out}, {}, {2, 1, 1});
       }},
      {"empty_handle",
       kInvalid,
       {"an empty handle"},
       [=](auto& s, auto&, auto& x) {
         dispatch(s, {}, {x, x}, {out}, push, {2, 1, 1});
       }},
      {"empty_tensor",
       kInvalid,
       {"w, which is an empty tensor"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, Tensor()}, {out}, push, {2, 1, 1});
       }},
      {"dtype",
       kInvalid,
       {"dtype of w", "allowed: f32"},
       [=](auto& s, auto& k, auto& x) {
         const Tensor ids = s.input("ids", {kCount}, std::vector<std::int32_t>(kCount));
         dispatch(s, k, {x, ids}, {out}, push, {2, 1, 1});
       }},
      {"output_dtype",
       kInvalid,
       {"make 'y' as (i32 [64])", "does not allow"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {{{kCount}, DType::i32}}, push, {2, 1, 1});
       }},
      {"empty_output",
       kInvalid,
       {"make 'y' as (f32 [0, 4])", "no elements"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {{{0, 4}, DType::f32}}, push, {2, 1, 1});
       }},
      {"output_without_rank",
       kInvalid,
       {"no elements"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {TensorSpec()}, push, {2, 1, 1});
       }},
      {"strided",
       kInvalid,
       {"contiguous", "w", "call copy first"},
       [=](auto& s, auto& k, auto& x) {
         const Tensor turned = permute(s, reshape(s, x, {8, 8}), {1, 0});
         dispatch(s, k, {x, turned}, {out}, push, {2, 1, 1});
       }},
      {"zero_grid",
       kInvalid,
       {"over (0) workgroups along axis 1", "at least 1"},
       [=](auto& s, auto& k, auto& x) {
         dispatch(s, k, {x, x}, {out}, push, {2, 0, 1});
       }},
  };
}

class KernelCalls : public ::testing::TestWithParam<std::tuple<std::string, BadCall>> {};
INSTANTIATE_TEST_SUITE_P(Of, KernelCalls,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::ValuesIn(bad_calls())),
                         [](const auto& row) {
                           return std::get<0>(row.param) + "_" + std::get<1>(row.param).what;
                         });

TEST_P(KernelCalls, ThatDoNotFitAreRefused) {
  const ExpectNoValidationMessages quiet;
  const auto& [name, row] = GetParam();
  const Device device = test_device(name);
  const CustomKernel kernel = sum_kernel(device);
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {kCount}, Values(kCount));
  std::vector<std::string> parts = row.parts;
  parts.emplace_back("custom_kernel_errors_test.cpp");
  expect_error(row.code, parts, [&, &bad = row] { bad.call(s, kernel, x); });
  EXPECT_TRUE(s.invalidated());
}

TEST_F(CustomKernelErrors, OfGridsAboveTheLimitsComeWhileTheCallIsRecorded) {
  const CustomKernel kernel = sum_kernel(device_);
  const std::uint32_t max = kernel.op().shader->max_groups[2];
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {kCount}, Values(kCount));
  expect_error(
      ErrorCode::unsupported,
      {"workgroups along axis 2", "at most " + std::to_string(max), "op 0 kernel:sum",
       "custom_kernel_errors_test.cpp"},
      [&] {
        dispatch(s, kernel, {x, x}, {{{kCount}, DType::f32}}, CountPush{64}, {1, 1, max + 1});
      });
  EXPECT_TRUE(s.invalidated());
}

TEST_F(CustomKernelErrors, OfTensorsAboveTheStorageRangeNameTheBinding) {
  const Device small = test_device("vulkan", {.binding_bytes = 1U << 20U});
  const CustomKernel kernel = sum_kernel(small);
  GraphExecutor executor(small);
  constexpr std::int64_t kLarge = (std::int64_t{1} << 18U) + 1;
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {kLarge}, Values(kLarge));
  s.output("y", call(s, kernel, x, x));
  expect_error(ErrorCode::unsupported, {"kernel:sum binds (1048580) bytes as x"},
               [&] { (void)s.finish(); });
}

TEST_F(CustomKernelErrors, OfViewsThatBeginBetweenWhatTheDeviceBindsSaySo) {
  const std::uint32_t alignment = device_.backend().traits().binding_alignment;
  ASSERT_GT(alignment, 4U);
  const CustomKernel kernel = sum_kernel(device_);
  const Values all = [] {
    Values values(2 * kCount);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    return values;
  }();
  const Tensor x = device_.from_host({2 * kCount}, all, "x");
  auto s = executor_.begin();
  const Tensor aligned = slice(s, x, 0, kCount, kCount);  // 256 bytes on
  s.output("y", call(s, kernel, aligned, aligned));
  Values doubled(all.begin() + kCount, all.end());
  for (float& value : doubled) {
    value += value;
  }
  EXPECT_EQ(s.finish().read("y"), doubled);
  auto t = executor_.begin();
  expect_error(ErrorCode::unsupported,
               {"x ('x' f32 [63]) begins at byte (4)",
                "multiples of " + std::to_string(alignment) + ". Call copy first."},
               [&] {
                 const Tensor rest = slice(t, x, 0, 1, 63);
                 call(t, kernel, rest, rest);
               });
}

TEST_F(CustomKernelErrors, OfExtentsAndOtherDevicesAreClear) {
  const CustomKernel kernel = sum_kernel(device_);
  const StateBlock state(device_, StateLayout().host("rows", 1, {.low = 0, .high = 8}));
  auto s = executor_.begin_recorded({.state = state, .extents = {{"rows", 8}}});
  const Tensor x = s.input("x", {s.extent("rows"), 4}, Values(32));
  expect_error(ErrorCode::invalid_argument, {"kernel:sum takes no extent of the state", "x"},
               [&] { call(s, kernel, x, x); });
  GraphExecutor other(test_device("cpu"));
  auto t = other.begin();
  const Tensor y = t.input("y", {4}, Values(4));
  expect_error(ErrorCode::invalid_argument, {"'sum' was compiled for another device"},
               [&] { call(t, kernel, y, y); });
}

TEST_F(CustomKernelErrors, OfSourcesThatADeviceHasNoUseForSayWhatItRuns) {
  KernelSource glsl = elementwise_source("sum", "x[i] + w[i]", nullptr);
  glsl.function = {};
  expect_error(ErrorCode::unsupported,
               {"'sum' has a shader alone", "cpu device", "KernelSource::function"},
               [&] { (void)test_device("cpu").compile_kernel(glsl, elementwise_interface()); });
  const KernelSource function{.name = "sum", .function = [](const KernelRun&) {}};
  expect_error(ErrorCode::unsupported, {"'sum' has a function alone", "vulkan device", "SPIR-V"},
               [&] { (void)device_.compile_kernel(function, elementwise_interface()); });
  expect_error(ErrorCode::unsupported, {"'sum' is a shader", "cpu device"}, [&] {
    (void)test_device("cpu").backend().add_shader({.name = "sum", .glsl = glsl.glsl});
  });
  expect_error(ErrorCode::invalid_argument, {"empty source"},
               [&] { (void)device_.compile_kernel({.name = "none"}, elementwise_interface()); });
  expect_error(ErrorCode::invalid_argument, {"give one of them"}, [&] {
    (void)device_.compile_kernel({.name = "both", .glsl = "x", .spirv = {1}},
                                 elementwise_interface());
  });
  for (const std::string name : {"", "two words", "line\nbreak", "a:b"}) {
    expect_error(ErrorCode::invalid_argument, {"The name of a kernel"}, [&] {
      (void)device_.compile_kernel({.name = name, .glsl = glsl.glsl}, elementwise_interface());
    });
  }
}

}  // namespace
}  // namespace reprise::testing
