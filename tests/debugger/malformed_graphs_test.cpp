// Sound SQLite files with rows that are no graph, no plan and no run: the panel that shows a table
// says what of it was left out, or is shown as something else.
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
#include "tests/debugger/debugger_window.h"
#include "tests/debugger/panel_window.h"
#include "tests/debugger/watched_database.h"
#include "tests/profile/sql.h"

namespace reprise::debugger {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class P>
std::unique_ptr<Panel> make() {
  return std::make_unique<P>();
}

struct Malformed {
  friend void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.name; }

  const char* name;
  std::string sql;  // of the graph 2 in run 2, which the debugger shows
  std::unique_ptr<Panel> (*panel)();
  std::string note;  // the beginning of what the panel says
};

const std::vector<Malformed>& malformed() {
  static const std::vector<Malformed> kAll = {
      {"CycleOfTwoNodes",
       "INSERT INTO edges SELECT graph_id, dst, src, tensor_idx, kind FROM edges WHERE graph_id=2 "
       "LIMIT 1",
       make<GraphPanel>,
       "1 rows of edges were left out: they lead to their own or an earlier node"},
      {"NodeThatWaitsForItself", "INSERT INTO edges VALUES(2,4,4,0,'RAW'),(2,5,5,0,'RAW')",
       make<GraphPanel>,
       "2 rows of edges were left out: they lead to their own or an earlier node"},
      {"EdgesOfNoNodes",
       "INSERT INTO edges VALUES(2,4,4000,0,'RAW'),(2,-1,5,0,'RAW'),(2,4,5,9999,'RAW')",
       make<GraphPanel>, "3 rows of edges were left out: the graph has no such nodes or tensor."},
      {"NodesAfterAGap", "UPDATE nodes SET idx=idx+1000000 WHERE graph_id=2 AND idx=90",
       make<NodesPanel>, "1 rows of nodes were left out: their numbers do not go on from 0."},
      {"StepsOfNoNode", "UPDATE steps SET node_idx=4000 WHERE graph_id=2 AND idx IN (3,7)",
       make<NodesPanel>, "2 references of steps were left out: the graph has nothing of that"},
      {"StepsOutOfOrder", "UPDATE steps SET idx=-idx WHERE graph_id=2 AND idx=1",
       make<TimelinePanel>, "90 rows of steps were left out: their numbers do not go on from 0."},
      {"StepsOfNoKernel", "UPDATE steps SET kernel_id=777 WHERE graph_id=2 AND idx=5",
       make<KernelsPanel>, "1 references of steps were left out"},
      {"KernelsThatAreTooSmall",
       "UPDATE kernels SET local_x=-1, push_bytes=9e999 WHERE id=(SELECT kernel_id FROM steps "
       "WHERE graph_id=2 AND idx=5)",
       make<StatisticsPanel>, "2 numbers of kernels are negative, too large or not whole"},
      {"OperandsOfNoTensor",
       "UPDATE node_tensors SET tensor_idx=-5 WHERE graph_id=2 AND node_idx=9 AND slot=0",
       make<InspectorPanel>, "1 rows of node_tensors were left out: the graph has no such node or"},
      {"NegativeSizesAndOffsets",
       "UPDATE tensors SET nbytes=-1, offset_bytes=-9223372036854775808 WHERE graph_id=2 AND idx=3",
       make<MemoryPanel>,
       "2 numbers of tensors are negative, too large or not whole: the nearest that can be is "
       "shown."},
      {"PoolsOfNegativeSize", "UPDATE pools SET size_bytes=-1 WHERE graph_id=2 AND idx=0",
       make<MemoryPanel>, "1 numbers of pools are negative"},
      {"TensorsInNoPool", "UPDATE tensors SET pool_idx=99, alias_of=idx WHERE graph_id=2 AND idx=3",
       make<TensorsPanel>, "2 references of tensors were left out"},
      {"BarriersOfNoStep",
       "UPDATE barriers SET before_step=4000 WHERE graph_id=2 AND ordinal IN (0,1)",
       make<BarriersPanel>, "2 rows of barriers were left out: the graph has no such step."},
      {"BarriersCausedByNothing",
       "UPDATE barriers SET cause_src=-3, pool_idx=77, size_bytes=-4 WHERE graph_id=2 AND "
       "ordinal=0",
       make<BarriersPanel>, "1 numbers of barriers are negative"},
      {"BarriersThatTheGraphLacks",
       "UPDATE barriers SET before_step=4000 WHERE graph_id=2 AND ordinal IN (0,1)",
       make<GraphPanel>, "2 rows of barriers were left out: the graph has no such step."},
      {"BarriersThatNodesLack",
       "UPDATE barriers SET before_step=4000 WHERE graph_id=2 AND ordinal IN (0,1)",
       make<NodesPanel>, "2 rows of barriers were left out: the graph has no such step."},
      {"DecisionsAboutNoNode",
       "INSERT INTO pass_decisions VALUES(2,'in_place',0,'shared',4000,1,'',NULL)",
       make<PassesPanel>, "1 references of pass_decisions were left out"},
      {"TimesThatAreNoNumbers",
       "UPDATE replays SET device_ns=9e999, submit_ns=-9e999, wait_ns=-1, prepare_ns='x' WHERE "
       "id=(SELECT max(id) FROM replays)",
       make<ReplayStripPanel>,
       "4 numbers of replays are negative, too large or not whole: times among them are left out."},
      {"ReplaysOfNoRecording",
       "UPDATE replays SET recording_id=77 WHERE id=(SELECT max(id) FROM "
       "replays)",
       make<ReplayStripPanel>, "1 rows of replays were left out: the file has no such recording."},
      {"RecordingsOfNoGraph",
       "INSERT INTO recordings(run_id,graph_id,device_id,t_ns) VALUES(2,99,1,0),(99,2,1,0)",
       make<ReplayStripPanel>,
       "2 rows of recordings were left out: the file has no such run or graph."},
      {"NodeTimesThatAreNotFinite",
       "UPDATE node_stats SET mean_ns=9e999 WHERE run_id=2 AND idx=1; UPDATE node_stats SET "
       "stddev_ns=NULL WHERE run_id=2 AND idx=2; UPDATE node_stats SET p50_ns=-1 WHERE run_id=2 "
       "AND idx=3; UPDATE node_stats SET idx=4000 WHERE run_id=2 AND idx=4",
       make<StatisticsPanel>,
       "4 rows of node_stats were left out: they are of nodes or timing modes that there are not"},
      {"StepTimesOfOtherSteps",
       "UPDATE step_timings SET data=zeroblob(3) WHERE replay_id=(SELECT max(replay_id) FROM "
       "step_timings)",
       make<TimelinePanel>, "1 rows of step_timings were left out: they are not times of (91)"},
      {"BindingsOfNoPool",
       "UPDATE recording_pools SET pool_idx=-7 WHERE pool_idx=0 AND "
       "recording_id=(SELECT max(id) FROM recordings WHERE graph_id=2 AND run_id=2)",
       make<InspectorPanel>,
       "1 rows of recording_pools were left out: the graph has no such pool."},
      {"StateFieldsOutsideOfTheState",
       "UPDATE state_fields SET offset_bytes=-4 WHERE graph_id=2 AND idx=0", make<ReplayStripPanel>,
       "1 rows of state_fields were left out: a state block has no such"},
      {"NamesThatAreNoText",
       "UPDATE nodes SET op=CAST(x'ff0a' AS TEXT) WHERE graph_id=2 AND idx=1; UPDATE nodes SET "
       "scope=char(27)||'[31m' WHERE graph_id=2 AND idx=2; UPDATE nodes SET label=char(8238) WHERE "
       "graph_id=2 AND idx=3",
       make<OutlinePanel>,
       "3 rows of nodes have names with bytes that are no text to print: each is shown as '?'."},
      {"ScopesWithoutAnEnd",
       "UPDATE nodes SET scope=replace(hex(zeroblob(5000)),'00','a/') WHERE graph_id=2 AND idx<2",
       make<OutlinePanel>,
       "2 rows of nodes lie in scopes deeper than 64: what is deeper is one name."},
      {"DifferencesOfWhatWasLeftOut", "UPDATE tensors SET alias_of=4000 WHERE graph_id=2 AND idx=3",
       make<DiffPanel>, "1 references of tensors were left out"},
  };
  return kAll;
}

class MalformedGraph : public ::testing::TestWithParam<Malformed> {
 protected:
  SampleDatabase database_;
};

INSTANTIATE_TEST_SUITE_P(With, MalformedGraph, ::testing::ValuesIn(malformed()),
                         [](const auto& malformed) { return std::string(malformed.param.name); });

TEST_P(MalformedGraph, IsToldInThePanelConcerned) {
  const auto note = [&] {
    PanelWindow window(database_.path(), GetParam().panel(), {.width = 900, .height = 400});
    const std::string panel(window.panel().id());
    window.workspace().show_bindings();
    window.run("wait");
    return window.text(panel + "/file_note");
  };
  EXPECT_EQ(note(), "(absent)");
  ASSERT_EQ(test::sql(database_.path(), "PRAGMA foreign_keys=OFF; " + GetParam().sql), "");
  EXPECT_THAT(note(), StartsWith(GetParam().note));
}

TEST(FileNote, OfNumbersNamesReplaysAndNodesThatThereAreNot) {
  const WatchedDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "PRAGMA foreign_keys=OFF; INSERT INTO tensor_stats VALUES(4000,1,3,0,1,0,0,0,"
                      "0,0,0,0,NULL); INSERT INTO comparisons(run_id,t_ns,graph_id,recording_id,"
                      "node_idx,name,reference,tolerance,pass) VALUES(1,0,1,1,4000,'','cpu',1,1)"),
            "");
  const HeadlessOptions options{.width = 900, .height = 400};
  PanelWindow tensors(database.path(), make<TensorsPanel>(), options);
  EXPECT_EQ(tensors.text("tensors/file_note"),
            "1 rows of tensor_stats were left out: the file has no such replay, node or tensor of "
            "the graph.");
  PanelWindow numerics(database.path(), make<NumericsPanel>(), options);
  EXPECT_THAT(numerics.text("numerics/file_note"),
              StartsWith("1 rows of comparisons were left out: the graph has no such node or"));
}

TEST(FileNote, OfSeveralNamesTheFirstAndTheMouseSeesAll) {
  const SampleDatabase database;
  ASSERT_EQ(
      test::sql(database.path(),
                "INSERT INTO edges VALUES(2,4,4,0,'RAW'),(2,4,4000,0,'RAW'); UPDATE nodes SET "
                "label=x'0a' WHERE idx=1 AND graph_id=2"),
      "");
  PanelWindow window(database.path(), std::make_unique<GraphPanel>(),
                     {.width = 900, .height = 400});
  EXPECT_THAT(window.text("graph/file_note"),
              HasSubstr("no such nodes or tensor. Point here for (2) more."));
  window.run("hover graph/file_note\nwait");
  EXPECT_THAT(window.text("tooltip"), HasSubstr("an earlier node"));
  EXPECT_THAT(window.text("tooltip"), HasSubstr("1 rows of nodes have names"));
}

TEST(FileNote, OfAnotherCaptureGoes) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "PRAGMA foreign_keys=OFF; UPDATE recording_pools SET pool_idx=-7 WHERE "
                      "pool_idx=0 AND recording_id=(SELECT max(id) FROM recordings WHERE "
                      "graph_id=2 AND run_id=2)"),
            "");
  PanelWindow window(database.path(), make<InspectorPanel>(), {.width = 900, .height = 400});
  Workspace& workspace = window.workspace();
  workspace.show_bindings();
  window.run("wait\nexpect inspector/file_note 1 rows of recording_pools were left out");
  workspace.document.choose(workspace.document.captures().back().id);
  window.run("wait\nabsent inspector/file_note");
}

TEST(FileNote, IsMissingInTheConsoleAndTheLogHasAllOfTheGraph) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(), "INSERT INTO edges VALUES(2,4,4,0,'RAW')"), "");
  PanelWindow sql(database.path(), std::make_unique<SqlPanel>(), {.width = 900, .height = 400});
  EXPECT_EQ(sql.text("sql/file_note"), "(absent)");
  PanelWindow log(database.path(), std::make_unique<LogPanel>(), {.width = 900, .height = 400});
  log.run("click log/level/debug");
  EXPECT_THAT(log.text("log/table/row/0/message"), HasSubstr("1 rows of edges were left out"));
}

TEST(FileNote, OfAFileWhoseRunsAreGoneIsWhyThereIsNoCapture) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(), "PRAGMA foreign_keys=OFF; DELETE FROM runs"), "");
  DebuggerWindow window(database.path());
  const Widget* const what = window.host().registry().find("body/empty/empty/what");
  ASSERT_NE(what, nullptr);
  EXPECT_THAT(what->text, HasSubstr("it lacks the run or the graph of each of its ("));
}

TEST(FileNote, ALogNamesEventsOfWhatIsNotThere) {
  const SampleDatabase database;
  ASSERT_EQ(test::sql(database.path(),
                      "INSERT INTO events(run_id,t_ns,severity,source,message,graph_id,node_idx) "
                      "VALUES(2,0,1,'x','far',2,4000),(2,0,9,'x','loud',2,3)"),
            "");
  PanelWindow log(database.path(), std::make_unique<LogPanel>(), {.width = 900, .height = 400});
  log.run("click log/level/debug");
  EXPECT_EQ(log.text("log/table/row/2/message"),
            "2 events name a node or a severity that there is not: they are shown without the "
            "node, and with the nearest severity.");
}

}  // namespace
}  // namespace reprise::debugger
