// Several values set at once: all or none, and no submission in between.
#include <atomic>
#include <thread>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

class StateTogether : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph launchable() {
    auto s = executor_.begin_recorded({.state = state_});
    s.output("y", get_rows(s, device_.from_host({4, 1}, std::vector<float>{0, 1, 2, 3}),
                           s.state("host")));
    return s.finish().graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  StateBlock state_{
      device_,
      StateLayout().host("host").carried("pos", 0, {.low = 0, .high = 9}).carried_array("ids", 1)};
};
INSTANTIATE_TEST_SUITE_P(On, StateTogether, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(StateTogether, OneRefusedValueRefusesAll) {
  CapturedGraph graph = launchable();
  state_.set({{"host", 1}, {"pos", 1}, {"ids", std::vector<std::int32_t>{1}}});
  expect_error(ErrorCode::invalid_argument, {"'pos'", "0 to 9", "(10)"}, [&] {
    state_.set({{"host", 2}, {"ids", std::vector<std::int32_t>{2}}, {"pos", 10}});
  });
  graph.launch();
  EXPECT_EQ(graph.state("host"), 1);
  EXPECT_EQ(graph.state("pos"), 1);
  EXPECT_EQ(state_.values("ids"), std::vector<std::int32_t>{1});
}

TEST_P(StateTogether, NoSubmissionSeesAPart) {
  CapturedGraph graph = launchable();
  std::atomic<bool> stop = false;
  std::thread setter([&] {
    for (std::int32_t i = 0; !stop; i = (i + 1) % 4) {
      state_.set({{"host", i}, {"pos", i}, {"ids", std::vector<std::int32_t>{i}}});
    }
  });
  for (int launches = 0; launches < 200; ++launches) {
    const Ticket ticket = graph.launch_async();
    EXPECT_EQ(ticket.state("host"), ticket.state("pos"));
    EXPECT_EQ(state_.values("ids").front(), ticket.state("pos"));
  }
  stop = true;
  setter.join();
}

TEST_P(StateTogether, NothingIsSetByNothing) { EXPECT_NO_THROW(state_.set({})); }

}  // namespace
}  // namespace reprise::testing
