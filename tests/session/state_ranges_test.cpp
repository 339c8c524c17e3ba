// Values that state fields refuse, whoever sets them.
#include <cmath>
#include <limits>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

class StateRanges : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  StateBlock state_{device_, StateLayout()
                                 .host("rows", 1, {.low = 1, .high = 32})
                                 .carried("pos", 0, {.low = 0, .high = 511})
                                 .host_f32("heat", 1)};
};
INSTANTIATE_TEST_SUITE_P(On, StateRanges, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(StateRanges, AValueOutOfRangeIsRefusedWithTheRange) {
  expect_error(ErrorCode::invalid_argument, {"'rows'", "1 to 32", "(33)"},
               [&] { state_.set("rows", 33); });
  expect_error(ErrorCode::invalid_argument, {"'rows'", "1 to 32", "(0)"},
               [&] { state_.set("rows", 0); });
  expect_error(ErrorCode::invalid_argument, {"'pos'", "0 to 511", "(-1)"},
               [&] { state_.set("pos", -1); });
}

TEST_P(StateRanges, NumbersThatAreNotFiniteAreRefused) {
  expect_error(ErrorCode::invalid_argument, {"'heat'", "finite"},
               [&] { state_.set("heat", std::nanf("")); });
  expect_error(ErrorCode::invalid_argument, {"'heat'", "finite"},
               [&] { state_.set("heat", -std::numeric_limits<float>::infinity()); });
}

TEST_P(StateRanges, ARefusedValueLeavesTheOldOne) {
  auto s = executor_.begin_recorded({.state = state_});
  s.output("y",
           get_rows(s, device_.from_host({4, 1}, std::vector<float>{0, 1, 2, 3}), s.state("rows")));
  CapturedGraph graph = s.finish().graph;
  graph.set_state("rows", 3);
  graph.set_state("pos", 7);
  expect_error(ErrorCode::invalid_argument, {"'rows'"}, [&] { graph.set_state("rows", 0); });
  expect_error(ErrorCode::invalid_argument, {"'pos'"}, [&] { graph.set_state("pos", 512); });
  graph.launch();
  EXPECT_EQ(graph.read("y"), std::vector<float>{3});
  EXPECT_EQ(graph.state("pos"), 7);
}

}  // namespace
}  // namespace reprise::testing
