#include "debugger/model/bindings.h"

#include <gmock/gmock.h>

#include "debugger/ui/icons.h"
#include "debugger/views/inspector_panel.h"
#include "debugger/views/nodes_panel.h"
#include "reprise/reprise.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// y = (x + w) * v, recorded and run; then, if asked, w is freed, which a launch refuses, and
/// rebound.
class BindingsTest : public ::testing::Test {
 protected:
  void record(bool freed, bool rebound = false) {
    const Device device = open_device("cpu");
    GraphExecutor executor(device, {.profile = path_});
    const Tensor w = device.from_host({4}, std::vector<float>(4, 1), "w");
    const Tensor v = device.from_host({4}, std::vector<float>(4, 1), "v");
    CapturedGraph graph = executor
                              .capture(
                                  [&](GraphSession& s) {
                                    const Tensor x = s.input("x", {4}, std::vector<float>(4, 2));
                                    s.output("y", mul(s, add(s, x, w), v));
                                  },
                                  {.name = "pass"})
                              .graph;
    graph.launch();
    if (freed) {
      device.free(w);
      EXPECT_THROW(graph.launch(), Error);
    }
    if (rebound) {
      graph.rebind(w, device.from_host({4}, std::vector<float>(4, 1), "w"));
      graph.launch();
    }
    executor.shutdown();
  }
  Capture capture() const { return read_capture(path_, {1, 1}); }
  /// That of the pool of a tensor of that name.
  Binding binding(const std::string& tensor) const {
    const Capture of = capture();
    const Bindings bindings = read_bindings(path_, of);
    for (const Capture::Tensor& t : of.tensors) {
      if (t.name == tensor && t.pool) {
        return bindings.of_pool[*t.pool];
      }
    }
    ADD_FAILURE() << "no tensor " << tensor;
    return {};
  }

  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(BindingsTest, OfAGraphThatRanWellAreLive) {
  record(false);
  EXPECT_EQ(binding("w").state, BindingState::live);
  EXPECT_EQ(binding("w").name, "w");
  EXPECT_EQ(binding("y").state, BindingState::live);
  const Capture of = capture();
  EXPECT_THAT(nodes_with_stale_bindings(of, read_bindings(path_, of)),
              Not(::testing::Contains(true)));
}

TEST_F(BindingsTest, OfMemoryThatWasFreedUnderTheGraphAreStale) {
  record(true);
  const Binding found = binding("w");
  EXPECT_EQ(found.state, BindingState::freed);
  EXPECT_THAT(binding_text(found), HasSubstr("(w), freed "));
  EXPECT_EQ(binding("v").state, BindingState::live);
  const Capture of = capture();
  EXPECT_THAT(nodes_with_stale_bindings(of, read_bindings(path_, of)),
              ::testing::ElementsAre(true, false));
}

TEST_F(BindingsTest, AreLiveAgainAfterARebind) {
  record(true, true);
  EXPECT_EQ(binding("w").state, BindingState::live);
}

TEST_F(BindingsTest, CountTheReplaysThatUsedFreedMemory) {
  record(true);
  ASSERT_EQ(test::sql(path_, "UPDATE replays SET t_submit_ns = 9000000000000000000"), "");
  EXPECT_EQ(binding("w").state, BindingState::replayed);
  EXPECT_GE(binding("w").replays_after, 1U);
  EXPECT_THAT(binding_text(binding("w")), HasSubstr("replays since"));
}

TEST_F(BindingsTest, NameTheBufferThatTookThePlace) {
  record(true);
  ASSERT_EQ(test::sql(path_,
                      "INSERT INTO buffers SELECT 999, run_id, device_id, name, kind, "
                      "size_bytes, t_alloc_ns + 1, NULL FROM buffers WHERE name = 'w'"),
            "");
  EXPECT_THAT(binding_text(binding("w")), HasSubstr("buffer 999 has its name now"));
}

/// Graphs that are recorded again and again, as by a cache that is too small.
TEST_F(BindingsTest, AreOfTheLatestOfThousandsOfRecordings) {
  record(false);
  ASSERT_EQ(test::sql(path_,
                      "UPDATE recordings SET id = 20000; UPDATE recording_pools SET recording_id = "
                      "20000; UPDATE replays SET recording_id = 20000; WITH RECURSIVE n(id) AS "
                      "(SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 10001) INSERT INTO "
                      "recordings(id, run_id, graph_id, device_id, t_ns) SELECT n.id, run_id, "
                      "graph_id, device_id, t_ns FROM n, recordings; INSERT INTO recording_pools("
                      "recording_id, pool_idx) SELECT c.id, p.pool_idx FROM recordings c, "
                      "recording_pools p WHERE c.id < 20000 AND p.recording_id = 20000"),
            "");
  EXPECT_EQ(binding("w").state, BindingState::live);
}

TEST_F(BindingsTest, OfFilesThatContradictThemselvesSaySo) {
  record(false);
  ASSERT_EQ(test::sql(path_,
                      "UPDATE buffers SET size_bytes = -5 WHERE name = 'w'; UPDATE "
                      "recording_pools SET buffer_id = NULL WHERE buffer_id = (SELECT id FROM "
                      "buffers WHERE name = 'v'); INSERT INTO recording_pools SELECT "
                      "recording_id, -7, buffer_id, 0 FROM recording_pools LIMIT 1; UPDATE "
                      "recordings SET stale_reason = 'gone', t_ns = -9223372036854775808; UPDATE "
                      "runs SET t_start_ns = 'x'"),
            "");
  EXPECT_EQ(binding("w").state, BindingState::too_small);
  EXPECT_EQ(binding("v").state, BindingState::unknown);
  EXPECT_THAT(binding_text(binding("v")), HasSubstr("does not say"));
  const Bindings bindings = read_bindings(path_, capture());
  EXPECT_EQ(bindings.left_out, 1U);
  EXPECT_EQ(bindings.stale_reason, "gone");
}

TEST_F(BindingsTest, MarkTheNodeInNodesAndTheOperandInTheInspector) {
  record(true);
  PanelWindow nodes(path_, std::make_unique<NodesPanel>(), {.width = 900, .height = 300});
  EXPECT_THAT(nodes.text("nodes/table/row/0/op"), HasSubstr(icon::kWarning));
  EXPECT_THAT(nodes.text("nodes/table/row/1/op"), Not(HasSubstr(icon::kWarning)));
  PanelWindow inspector(path_, std::make_unique<InspectorPanel>(), {.width = 380, .height = 900});
  inspector.workspace().select_node(0);
  inspector.run("wait");
  EXPECT_THAT(inspector.text("inspector/all/operand/1/binding"), HasSubstr("(w), freed "));
}

}  // namespace
}  // namespace reprise::debugger
