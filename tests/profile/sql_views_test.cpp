// Views that answer questions no single table does: the state block decoded, what is in use at the
// peak of memory, nodes of two runs whose source lines moved.
#include <bit>
#include <cmath>
#include <random>
#include <sstream>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::GraphMaker;
using test::send_recording;
using test::sql;
using test::TempFolder;

class SqlViews : public ::testing::Test {
 protected:
  std::string query(const std::string& text) const { return sql(path_, text); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(SqlViews, StateOfAReplayIsDecodedToTheLastBit) {
  const std::vector<std::int32_t> integers{0, -1, 7, INT32_MAX, INT32_MIN};
  std::vector<float> floats{0.0F,      1.5F,      -0.1F,           3.4028235e38F,
                            -1e-45F,   1e-40F,    1.17549435e-38F, INFINITY,
                            -INFINITY, 12345.678F};
  std::mt19937 random(23);  // any bits but those of NaN
  while (floats.size() < 200) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) {
      floats.push_back(value);
    }
  }
  std::vector<std::uint32_t> words;
  for (const std::int32_t i : integers) {
    words.push_back(std::bit_cast<std::uint32_t>(i));
  }
  for (const float f : floats) {
    words.push_back(std::bit_cast<std::uint32_t>(f));
  }
  words.push_back(0x7FC00000);                                       // NaN
  const auto count = static_cast<std::uint32_t>(floats.size() + 2);  // the last one is not there
  const auto recorded =
      GraphMaker(
          {.state_fields = {{"ids", StateOwner::host, DType::i32, 0, 0, "", {}, 5},
                            {"scale", StateOwner::carried, DType::f32, 5, 0, "", {}, count}}})
          .make();
  {
    const auto sink = open_profile(path_, {});
    sink->device(test::test_device());
    ReplayRecord replay;
    replay.recording = send_recording(*sink, recorded);
    replay.state = words;
    sink->replay(replay);
  }
  EXPECT_EQ(query("SELECT run_id, graph, field, type, owner, element, value FROM v_replay_state "
                  "WHERE replay_id=1 AND type='i32' ORDER BY element"),
            "1|decode|ids|i32|host|0|0\n1|decode|ids|i32|host|1|-1\n1|decode|ids|i32|host|2|7\n"
            "1|decode|ids|i32|host|3|2147483647\n1|decode|ids|i32|host|4|-2147483648");
  // The bits of the doubles, as text would round them.
  std::istringstream values(
      query("SELECT CASE WHEN value IS NULL THEN 'NULL' ELSE printf('%!.20g', value) END FROM "
            "v_replay_state WHERE field='scale' ORDER BY element"));
  std::string line;
  for (const float expected : floats) {
    ASSERT_TRUE(std::getline(values, line));
    const double read = line == "Inf" ? INFINITY : line == "-Inf" ? -INFINITY : std::stod(line);
    EXPECT_EQ(read, static_cast<double>(expected)) << line;
  }
  EXPECT_TRUE(std::getline(values, line));
  EXPECT_EQ(line, "NULL");
  EXPECT_FALSE(std::getline(values, line));
}

TEST_F(SqlViews, PeakOfMemoryHasInputsAndOutputsAndIsThePlansOwn) {
  const auto recorded = GraphMaker({.scales = 3}).make();
  {
    const auto sink = open_profile(path_, {});
    sink->device(test::test_device());
    send_recording(*sink, recorded);
  }
  EXPECT_EQ(query("SELECT graph, live_bytes FROM v_memory_peak"),
            "decode|" + std::to_string(recorded->live_peak_bytes));
  EXPECT_EQ(query("SELECT DISTINCT role FROM v_memory_plan ORDER BY 1"),
            "activation\ninput\noutput");
}

TEST_F(SqlViews, NodesOfTwoRunsAreJoinedAfterAnEditThatMovesLines) {
  for (const char* file : {"before.cpp", "after.cpp"}) {
    const auto recorded = GraphMaker({.file = file}).make();
    const auto sink = open_profile(path_, {});
    sink->device(test::nanosecond_device());
    const std::uint64_t recording = send_recording(*sink, recorded);
    sink->replay(test::TimedReplay(recording, 1, {1000, 2000, 3000}).record);
  }
  ASSERT_EQ(query("SELECT count(*) FROM graphs"), "2");  // a line is content
  EXPECT_EQ(query("SELECT a.node, a.op, a.scope, a.operands, a.source, b.source FROM v_node_times "
                  "a JOIN v_node_times b ON b.structure_hash=a.structure_hash AND b.node=a.node "
                  "AND b.operands=a.operands AND b.run_id>a.run_id ORDER BY 1"),
            "0|norm|layer.3/attn|x=x weight=attn_norm y=layer.3/attn/norm state=state|"
            "before.cpp:10|after.cpp:10\n"
            "1|add|layer.3|a=layer.3/attn/norm b=x y=layer.3/add|before.cpp:11|after.cpp:11\n"
            "2|norm||x=layer.3/add weight=attn_norm y=logits state=state|"
            "before.cpp:12|after.cpp:12");
}

}  // namespace
}  // namespace reprise::testing
