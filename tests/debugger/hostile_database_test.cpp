// Panels over databases that say anything: nothing crashes, and the rest is still shown.
#include "debugger/views/barriers_panel.h"
#include "debugger/views/diff_panel.h"
#include "debugger/views/graph_panel.h"
#include "debugger/views/inspector_panel.h"
#include "debugger/views/kernels_panel.h"
#include "debugger/views/log_panel.h"
#include "debugger/views/memory_panel.h"
#include "debugger/views/nodes_panel.h"
#include "debugger/views/numerics_panel.h"
#include "debugger/views/outline_panel.h"
#include "debugger/views/passes_panel.h"
#include "debugger/views/replay_strip_panel.h"
#include "debugger/views/sql_panel.h"
#include "debugger/views/statistics_panel.h"
#include "debugger/views/tensors_panel.h"
#include "debugger/views/timeline_panel.h"
#include "tests/debugger/panel_window.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

struct Damage {
  const char* name;
  std::string sql;
  std::size_t nodes = 91;  // of the graph that is shown all the same
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> kDamages = {
      {"LongNames",
       "UPDATE nodes SET op = replace(hex(zeroblob(500000)), '0', 'ab'), scope = op || '/' || op, "
       "label = op, src_file = op, attributes_json = op WHERE idx IN (0, 1, 90)"},
      {"FormatsAndIds",
       "UPDATE nodes SET op = '%s%n##' || idx, scope = '###/%d/../' || idx, label = '%s', src_func "
       "= '%n'; UPDATE tensors SET name = '##%s'; UPDATE kernels SET name = '%s##'"},
      {"BytesThatAreNoText",
       "UPDATE nodes SET op = CAST(x'ff00fe0a1b5b' AS TEXT), scope = CAST(x'c3280a2f' AS TEXT), "
       "attributes_json = CAST(x'7b22ff' AS TEXT); UPDATE state_fields SET name = "
       "CAST(x'00ff' AS TEXT)"},
      {"DeepAttributes",
       "UPDATE nodes SET attributes_json = replace(hex(zeroblob(15000)), '0', '[')"},
      {"NumbersOutOfRange",
       "UPDATE nodes SET flops = 9223372036854775807, read_bytes = 9223372036854775807, "
       "write_bytes = 9223372036854775807, level = -5, src_line = 4000000000; UPDATE replays SET "
       "device_ns = 9223372036854775807, prepare_ns = 9223372036854775807, submit_ns = "
       "9223372036854775807, wait_ns = -1; UPDATE tensors SET nbytes = -1, offset_bytes = "
       "9223372036854775807"},
      {"TimesOutOfRange",
       "UPDATE node_stats SET sum_ns = 9223372036854775807, p50_ns = 9223372036854775807, p95_ns = "
       "0, mean_ns = 1e300, stddev_ns = -1e300, max_ns = 0; UPDATE step_timings SET unit_ns = "
       "9223372036854775807"},
      {"NoTimes", "DELETE FROM node_stats; DELETE FROM step_timings"},
      {"NoPlan",
       "DELETE FROM steps; DELETE FROM barriers; DELETE FROM pools; DELETE FROM node_tensors"},
      {"DanglingIndices",
       "UPDATE steps SET node_idx = 4000000000, kernel_id = -7; UPDATE barriers SET before_step = "
       "10000, cause_src = -1; UPDATE tensors SET alias_of = idx, pool_idx = 99"},
      {"NoNodes", "DELETE FROM nodes", 0},
      {"NoReplays", "DELETE FROM replays"},
      {"PlansOfMemoryThatCannotBe",
       "UPDATE tensors SET pool_idx = 0, offset_bytes = 9223372036854775807 / (1 + idx % 7), nbytes"
       " = 9223372036854775807 - offset_bytes, first_use = idx % 90, last_use = (idx * 7) % 90; "
       "UPDATE pools SET kind = 'arena', size_bytes = 9223372036854775807"},
      {"PassesOfAnything",
       "INSERT INTO pass_decisions SELECT graph_id, CAST(x'ff00' AS TEXT) || (idx % 3), idx, "
       "replace(hex(zeroblob(9000)), '0', '%n'), idx - 5, idx - 2, '##%s' || char(27), "
       "-9223372036854775807 - 1 FROM nodes; UPDATE barriers SET kind = '%s##', reason = kind, "
       "offset_bytes = 9223372036854775807, size_bytes = 9223372036854775807, emitted = -3"},
      {"KernelsThatAreNoCode",
       "UPDATE kernels SET spirv = CASE id % 3 WHEN 0 THEN substr(spirv, 1, 41) WHEN 1 THEN "
       "randomblob(2000) ELSE zeroblob(3000000) END, source = CAST(x'ff00250a' AS TEXT) || "
       "hex(zeroblob(500000)), spec_json = '{\"0\":[[[[1]]]],\"x\":\"%n\"}', name = '../../' || "
       "char(10) || '%s', push_bytes = -1, local_x = -5, pipeline_create_ns = -9"},
      {"EventsOfAnything",
       "INSERT INTO events(run_id,t_ns,severity,source,code,message,graph_id,node_idx,replay_id) "
       "SELECT 2, -9223372036854775807, idx * 99 - 7, CAST(x'ff0a' AS TEXT), '%n', replace(hex("
       "zeroblob(9000)), '0', '%s##'), 2, idx * 9 - 40, -idx FROM nodes; UPDATE runs SET "
       "t_start_ns "
       "= 9223372036854775807; INSERT INTO drops(run_id,t_ns,what,reason,count) VALUES (2, 0, "
       "'%s', CAST(x'ff' AS TEXT), -9223372036854775807)"},
      {"ErrorsOfAnything",
       "INSERT INTO comparisons(run_id,t_ns,graph_id,recording_id,node_idx,reference,max_rel,"
       "tolerance,pass) SELECT 2, 0, 2, 1, idx * 3 - 9, '%n', CASE idx % 4 WHEN 0 THEN 9e999 "
       "WHEN 1 THEN -5 WHEN 2 THEN NULL ELSE 1e308 END, -1, idx % 2 FROM nodes"},
      {"StateFieldsAnywhere",
       "UPDATE state_fields SET offset_bytes = 4294967292, count = 4000000000, type = 'f32'"},
  };
  return kDamages;
}

class HostileDatabase : public ::testing::TestWithParam<Damage> {
 protected:
  template <class P>
  void use(const std::string& script) {
    PanelWindow window(database_.path(), std::make_unique<P>(), {.width = 900, .height = 400});
    const auto capture = window.document().capture();
    ASSERT_NE(capture, nullptr);
    EXPECT_EQ(capture->nodes.size(), GetParam().nodes);
    if (!capture->nodes.empty()) {
      window.workspace().select_node(static_cast<std::uint32_t>(capture->nodes.size() - 1));
      window.workspace().filter = "p50>1us -barrier x";
      window.workspace().document.set_range(ReplayRange{0, 5});
      window.run("wait");
      window.workspace().filter = "share>0%";
      window.workspace().document.show_replay(0);
    }
    window.run(script + "\nwait");
    if (window.workspace().scopes.items().size() > 1) {
      window.workspace().select({.node = {}, .item = 1});
      window.run("wait");
    }
    EXPECT_FALSE(window.host().registry().widgets().empty());
  }

  SampleDatabase database_;
};

TEST_P(HostileDatabase, LeavesEveryPanelUsable) {
  ASSERT_EQ(test::sql(database_.path(), GetParam().sql), "");
  use<NodesPanel>("");
  use<InspectorPanel>("");
  use<TimelinePanel>("");
  use<ReplayStripPanel>("");
  use<MemoryPanel>("");
  use<BarriersPanel>("");
  use<PassesPanel>("");
  use<StatisticsPanel>("");
  use<KernelsPanel>("");
  use<LogPanel>("");
  use<TensorsPanel>("");
  use<NumericsPanel>("");
  use<DiffPanel>("");
  use<OutlinePanel>("key Shift+]");
  use<GraphPanel>("key Shift+]\nkey C\nkey C\nkey C\nkey C\nkey C");
  use<SqlPanel>(
      "type sql/editor SELECT * FROM nodes n LEFT JOIN replays\nkey Ctrl+Enter\nclick "
      "sql/charted");
}

INSTANTIATE_TEST_SUITE_P(Of, HostileDatabase, ::testing::ValuesIn(damages()),
                         [](const auto& damage) { return std::string(damage.param.name); });

}  // namespace
}  // namespace reprise::debugger
