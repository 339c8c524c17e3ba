// DeviceScalar: one typed value, alone or of a block, that launches in flight keep.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class DeviceScalars : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, DeviceScalars, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DeviceScalars, ALaunchInFlightKeepsItsValue) {
  const DeviceScalar<std::int32_t> row(device_, "row", 3);
  auto s = executor_.begin_recorded({.state = row.state()});
  const std::vector<float> table{0, 1, 2, 3, 4, 5, 6, 7};
  s.output("y", get_rows(s, device_.from_host({8, 1}, table, "table"), row.in(s)));
  CapturedGraph graph = s.finish({.slots = 8}).graph;
  EXPECT_EQ(row.get(), 3);
  std::vector<Ticket> tickets;
  for (std::int32_t i = 0; i < 8; ++i) {
    row.set(7 - i);
    tickets.push_back(graph.launch_async());
  }
  for (std::int32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(tickets[static_cast<std::size_t>(i)].read("y"),
              std::vector<float>{static_cast<float>(7 - i)});
  }
  EXPECT_EQ(row.get(), 0);
}

TEST_P(DeviceScalars, AFloatIsAnAttribute) {
  const DeviceScalar<float> eps(device_, "eps", 3.0F);
  auto s = executor_.begin_recorded({.state = eps.state()});
  s.output("y", rms_norm(s, s.input("x", {1, 1}, std::vector<float>{1}), {}, {.eps = eps.in(s)}));
  CapturedGraph graph = s.finish().graph;
  graph.launch();
  EXPECT_EQ(graph.read("y"), std::vector<float>{0.5F});
  eps.set(15.0F);
  graph.launch();
  EXPECT_EQ(graph.read("y"), std::vector<float>{0.25F});
  EXPECT_EQ(eps.get(), 15.0F);
}

TEST_P(DeviceScalars, AFieldOfABlockIsOneToo) {
  const StateBlock state(device_, StateLayout().host("rows", 1).carried_f32("heat", 0.5F));
  const DeviceScalar<std::int32_t> rows(state, "rows");
  const DeviceScalar<float> heat(state, "heat");
  EXPECT_EQ(heat.get(), 0.5F);
  rows.set(2);
  heat.set(0.25F);
  auto s = executor_.begin({.state = state});
  (void)rows.in(s);
  (void)s.finish();
  EXPECT_EQ(state.get("rows"), 2);
  EXPECT_EQ(state.get<float>("heat"), 0.25F);
  EXPECT_EQ(heat.get(), 0.25F);
}

TEST_P(DeviceScalars, UnknownFieldsAndOtherTypesAreRefused) {
  const StateBlock state(device_, StateLayout().host("rows", 1));
  expect_error(ErrorCode::unknown_name, {"(pos)", "rows"},
               [&] { const DeviceScalar<std::int32_t> pos(state, "pos"); });
  expect_error(ErrorCode::dtype_mismatch, {"'rows'", "i32", "(f32)"},
               [&] { const DeviceScalar<float> rows(state, "rows"); });
}

TEST_P(DeviceScalars, ASessionWithAnotherBlockRefusesIt) {
  const DeviceScalar<float> eps(device_, "eps", 1.0F);
  const DeviceScalar<float> namesake(device_, "eps", 2.0F);
  auto s = executor_.begin({.state = namesake.state()});
  expect_error(ErrorCode::invalid_argument, {"'eps'", "another state block"},
               [&] { (void)eps.in(s); });
  auto t = executor_.begin();
  expect_error(ErrorCode::invalid_argument, {"no state block"}, [&] { (void)eps.in(t); });
}

}  // namespace
}  // namespace reprise::testing
