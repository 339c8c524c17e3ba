// Moving tensors.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class DeviceTensors : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, DeviceTensors, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DeviceTensors, ComeBackAsTheyWent) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const std::int64_t elements : {1, 3, 257, 65537}) {
    const auto bytes = random_bytes(rng, DType::f16, elements, -1, 1);
    EXPECT_EQ(device_.to_host(device_.from_host({elements}, DType::f16, bytes, "t")), bytes);
  }
}

TEST_P(DeviceTensors, ZerosAreZero) {
  EXPECT_EQ(device_.to_host(device_.zeros({33}, DType::f32)), std::vector<std::byte>(132));
}

TEST_P(DeviceTensors, SizesAreChecked) {
  expect_error(ErrorCode::size_mismatch, {"'t' f32 [4]", "16", "(12)"}, [&] {
    (void)device_.from_host({4}, std::vector<float>{1, 2, 3}, "t");
  });
  expect_error(ErrorCode::invalid_argument, {"(0)"},
               [&] { (void)device_.zeros({0}, DType::f32, "t"); });
}

}  // namespace
}  // namespace reprise::testing
