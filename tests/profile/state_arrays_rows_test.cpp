// Arrays of the state in the profiling database: their rows, and their elements behind the block.
#include "framework/profile/capture_reader.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Ints = std::vector<std::int32_t>;

class StateArrayRows : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Device device = test_device(GetParam());
    GraphExecutor executor(device, {.profile = path_});
    const StateBlock state(device,
                           StateLayout().carried_array("tokens", 2).host("n", 5).array("ids", 3));
    state.set({{"ids", Ints{1, 2, 3}}, {"tokens", Ints{7, 8}}});
    auto s = executor.begin_recorded({.state = state});
    const Tensor table = device.from_host({4, 1}, std::vector<float>{0, 1, 2, 3});
    s.output("y", get_rows(s, table, s.state_array("ids")));
    s.output("z", get_rows(s, table, s.state("n")));
    CapturedGraph graph = s.finish({.run = false}).graph;
    graph.launch();
    state.set({{"n", 6}, {"ids", Ints{3, 0, 1}}});
    graph.launch();
  }
  const ExpectNoValidationMessages quiet_;
  test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};
INSTANTIATE_TEST_SUITE_P(On, StateArrayRows, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(StateArrayRows, SayWhereTheirElementsAre) {
  EXPECT_EQ(test::sql(path_,
                      "SELECT name,type,owner,count,offset_bytes FROM state_fields "
                      "ORDER BY idx"),
            "n|i32|host|1|0\nids|i32|host|3|4\ntokens|i32|carried|2|16");
}

TEST_P(StateArrayRows, EveryReplayHasItsElements) {
  EXPECT_EQ(test::sql(path_, "SELECT hex(state) FROM replays ORDER BY id"),
            "050000000100000002000000030000000700000008000000\n"
            "060000000300000000000000010000000700000008000000");
}

TEST_P(StateArrayRows, ReadersTakeThem) {
  const std::vector<CaptureSummary> captures = read_captures(path_);
  ASSERT_EQ(captures.size(), 1U);
  const Capture capture = read_capture(path_, captures.front().id);
  ASSERT_EQ(capture.state_fields.size(), 3U);
  EXPECT_EQ(capture.state_fields[1].name, "ids");
  EXPECT_EQ(capture.state_fields[1].count, 3U);
  EXPECT_TRUE(capture.problems.empty());
}

}  // namespace
}  // namespace reprise::testing
