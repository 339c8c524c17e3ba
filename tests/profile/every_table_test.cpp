// The schema says nothing that is never there: every table has rows, and every column a value, once
// a program has used what there is.
#include <algorithm>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/custom_kernels.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

using test::sql;
using test::TempFolder;

class EveryTable : public ExpertsTest {
 protected:
  /// Layers of 160 x 160 numbers: larger than what lies in the file.
  void pass(GraphSession& s) const {
    Tensor x = s.input("x", {160, 160}, wide_);
    auto layer = s.scope("layer", 0);
    auto label = s.scope("mlp");
    x = reprise::add(s, x, mul(s, x, x));
    s.output("y", rms_norm(s, x, {}, {.eps = 1e-5F}));
  }
  void with_experts(GraphExecutor& executor) {
    ExecutableGraph some = graph(executor, setup(2, ExpertMiss::upload, 3));
    for (int run = 0; run < 4; ++run) {
      (void)some.run({{"x", random_rows(1)}});
    }
  }
  void by_key(GraphExecutor& executor) const {
    const GraphKey key{.owner = owner_, .tag = "pass"};
    auto s = executor.begin_graph_capture();
    pass(s);
    (void)executor.end_graph_capture(key, s, {.run = false});
    (void)executor.replay_graph(key, {{"x", wide_}});
    executor.reset_graph(key);
  }
  void with_a_kernel_that_gets_stale(GraphExecutor& executor) const {
    const GraphKey key{.owner = owner_, .tag = "stale"};
    const Tensor row = device_.from_host({8}, std::vector<float>(8, 1), "row");
    const CustomKernel sum = sum_kernel(device_);
    auto s = executor.begin_graph_capture();
    s.output("y", dispatch(s, sum, {row, row}, {{{8}, DType::f32}}, CountPush{8}, {1, 1, 1})[0]);
    (void)executor.end_graph_capture(key, s);
    device_.free(row);
    EXPECT_FALSE(executor.replay_graph(key));
  }
  static void with_an_error(GraphExecutor& executor) {
    auto s = executor.begin_recorded({.name = "wrong"});
    host_step(s, "refuse", {}, {}, [](HostStepCall&) { throw_invalid_argument("refused"); });
    EXPECT_THROW((void)s.finish(), Error);
  }
  void with_state(GraphExecutor& executor) const {
    const StateBlock state(device_, StateLayout().carried("pos", 0).derived(
                                        "next", field("pos") + 1, {.low = 0, .high = 8}));
    auto s = executor.begin_recorded({.name = "state", .state = state});
    const Tensor table = device_.zeros({8, 4}, DType::f32, "table");
    const Tensor row = s.input("row", {1, 4}, std::vector<float>(4, 1));
    set_rows(s, table, row, {.position = s.state("pos")});
    s.output("sum", reprise::add(s, get_rows(s, table, s.state("pos")), row));
    advance(s, argmax(s, row), {.position = s.state("pos")});
    CapturedGraph graph = s.finish().graph;
    graph.launch();
  }
  /// What a program does once in a while, and what goes wrong.
  void beside_sessions(const std::filesystem::path& path) const {
    const auto sink = open_profile(path, {}, {}, {.snapshot_bytes = 0});
    sink->device(device_.info());
    const auto recorded = test::GraphMaker({}).make();
    TensorsRecord tensors{.recording = test::send_recording(*sink, recorded),
                          .plan = recorded,
                          .tensors = {{3, 0, {{1}, DType::f32}, 0}},
                          .bytes = std::vector<std::byte>(4),
                          .contents = true};
    sink->tensors(tensors);
    ReplayRecord replay;
    replay.recording = tensors.recording;
    sink->replay(replay);
    sink->send(
        BenchmarkRecord{.test = "pp128", .model_type = "m", .precision = "fast", .peer = "p"});
    sink->flush();
  }

  std::string query(const std::string& text) const { return sql(path_, text); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "all.db";
  const GraphOwner owner_{"model"};
  const std::vector<float> wide_ = std::vector<float>(160 * 160, 2);
};
INSTANTIATE_TEST_SUITE_P(On, EveryTable, ::testing::Values("vulkan"), device_param_name);

TEST_P(EveryTable, HasRowsAndEveryColumnAValue) {
  {
    RunInfo run = test::run_info("app", "label", {"-x"});
    run.environment = {{"A", "b"}};
    run.notes = run.model_path = run.model_hash = run.quantisation = "given";
    GraphExecutor executor(device_, {.profile = path_, .run = run, .timing = TimingMode::node});
    with_experts(executor);
    by_key(executor);
    with_a_kernel_that_gets_stale(executor);
    with_an_error(executor);
    with_state(executor);
    const HostScope scope = executor.host_scope("outer");
    const HostScope inner = executor.host_scope("inner");
    CapturedGraph graph = executor
                              .capture([this](GraphSession& s) { pass(s); }, {.name = "pass"},
                                       {.passes = PassOptions::exact()})
                              .graph;
    graph.launch();
    executor.set_watches({{.contents = true, .not_finite = true}});
    with_state(executor);
    graph.set_input("x", std::vector<float>(160 * 160, std::numeric_limits<float>::infinity()));
    graph.launch();
    EXPECT_TRUE(verify(executor, [this](GraphSession& s) { pass(s); }).equal());
    const Device cpu = test_device("cpu");
    GraphExecutor reference(cpu);
    CapturedGraph other =
        reference.capture([this](GraphSession& s) { pass(s); }, {}, {.run = false}).graph;
    other.set_input("x", std::vector<float>(160 * 160, 3));
    CapturedGraph same =
        executor.capture([this](GraphSession& s) { pass(s); }, {}, {.run = false}).graph;
    (void)compare_numerics(same, other);
    executor.count("speed", 3.5, "1/s");
    executor.shutdown();
  }
  beside_sessions(path_);
  std::string missing;
  const std::string tables =
      query("SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite%'");
  std::istringstream names(tables);
  for (std::string table; std::getline(names, table);) {
    if (query("SELECT count(*) FROM " + table) == "0") {
      missing += table + "\n";
      continue;
    }
    std::istringstream columns(query("SELECT name FROM pragma_table_info('" + table + "')"));
    for (std::string column; std::getline(columns, column);) {
      if (query("SELECT count(\"" + column + "\") FROM " + table) == "0") {
        missing += table + "." + column + "\n";
      }
    }
  }
  // No driver here tells the first and the last ones; see docs/profiling-database.md.
  const std::vector<HeapInfo> heaps = device_.memory().heaps;
  const bool tells_budget = std::ranges::any_of(
      heaps, [](const HeapInfo& heap) { return heap.driver_budget.has_value(); });
  std::string untold =
      "kernels.registers\nkernels.spill_bytes\nkernels.subgroup_size\n"
      "kernels.source_path\nsteps.grid_expr\npass_decisions.estimate_ns\n";
  if (!tells_budget) {
    untold += "memory_samples.driver_used_bytes\nmemory_samples.driver_budget_bytes\n";
  }
  EXPECT_EQ(missing, untold);
}

}  // namespace
}  // namespace reprise::testing
