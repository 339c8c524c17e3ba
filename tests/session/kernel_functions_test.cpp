// Kernels of the caller's as functions on the CPU: what they see of a call, and what becomes of
// them where they throw.
#include <functional>
#include <stdexcept>

#include "tests/session/custom_kernels.h"

namespace reprise::testing {
namespace {

/// A function on the CPU that does `f` with its run.
std::string failure_of(const std::function<void(const KernelRun&)>& f) {
  const Device device = open_device("cpu");
  const CustomKernel kernel =
      device.compile_kernel({.name = "wild", .function = f}, elementwise_interface());
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {4}, Values(4));
  s.output("y", call(s, kernel, add(s, x, x), x));
  try {
    (void)s.finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
    return error.what();
  }
  return "nothing was thrown";
}

TEST(KernelFunctions, ThatThrowLoseTheDeviceAndNameTheNode) {
  EXPECT_NE(failure_of([](const KernelRun&) {
              throw std::runtime_error("No room left.");
            }).find("Op 1 kernel:wild failed on the host: No room left."),
            std::string::npos);
  EXPECT_NE(failure_of([](const KernelRun&) {
              throw 3;
            }).find("Op 1 kernel:wild failed on the host: an exception of an unknown type"),
            std::string::npos);
}

TEST(KernelFunctions, ReachTheirBindingsAsTheInterfaceSaysOnly) {
  const std::vector<std::pair<std::string, std::function<void(const KernelRun&)>>> rows{
      {"number (3) is asked for", [](const KernelRun& run) { (void)run.read<float>(3); }},
      {"writes its binding (0) 'x'", [](const KernelRun& run) { (void)run.write<float>(0); }},
      {"reads its binding (2) 'y'", [](const KernelRun& run) { (void)run.read<float>(2); }},
      {"binding (1) 'w', which is f32 [4], for another dtype",
       [](const KernelRun& run) { (void)run.read<std::int32_t>(1); }},
      {"takes (8) bytes of push constants; there are 4",
       [](const KernelRun& run) { (void)run.push<std::uint64_t>(); }}};
  for (const auto& [message, f] : rows) {
    const std::string text = failure_of(f);
    EXPECT_NE(text.find(message), std::string::npos) << "'" << message << "' is not in: " << text;
  }
}

TEST(KernelFunctions, SeeGridPushAndBytesOfAnyDType) {
  const Device device = test_device("cpu");
  const CustomKernel kernel =
      device.compile_kernel({.name = "look",
                             .function =
                                 [](const KernelRun& run) {
                                   EXPECT_EQ(run.name(), "look");
                                   EXPECT_EQ(run.grid(), (Grid{3, 4, 5}));
                                   EXPECT_EQ(run.binding_count(), 3U);
                                   EXPECT_EQ(run.spec(2).shape, (Shape{2, 4}));
                                   EXPECT_EQ(run.push<CountPush>().count, 9U);
                                   const auto from = run.read<std::byte>(0);
                                   std::ranges::copy(from, run.write<std::byte>(2).begin());
                                 }},
                            elementwise_interface());
  GraphExecutor executor(device);
  auto s = executor.begin();
  const Values values{1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor x = s.input("x", {8}, values);
  s.output("y", dispatch(s, kernel, {x, x}, {{{2, 4}, DType::f32}}, CountPush{9}, {3, 4, 5})[0]);
  EXPECT_EQ(s.finish().read("y"), values);
}

}  // namespace
}  // namespace reprise::testing
