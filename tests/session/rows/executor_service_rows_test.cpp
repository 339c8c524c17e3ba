// What an executor has around its sessions, a capability per test: graphs as data, kernels, memory,
// model files, sampling, profiles.
#include <cmath>

#include "framework/core/op.h"
#include "framework/graph/edges.h"
#include "reprise/backend/backend.h"
#include "reprise/formats/gguf.h"
#include "reprise/session/saved_graphs.h"
#include "tests/formats/gguf_builder.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

class ExecutorServiceRows : public DeviceRows {};
class ExecutorServiceRowsInBothForms : public FormRows {};
INSTANTIATE_TEST_SUITE_P(On, ExecutorServiceRows, ::testing::Values("cpu", "vulkan"),
                         device_param_name);
INSTANTIATE_TEST_SUITE_P(On, ExecutorServiceRowsInBothForms, both_forms(), form_name);

/// A graph as lines of text: all that a person asks of it.
std::string text_of(const ExecutionPlan& plan) {
  const ComputeGraph& graph = *plan.graph;
  std::string text;
  const auto name = [&](std::uint32_t tensor) {
    return std::string(graph.names.text(graph.tensors[tensor].name));
  };
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Cost cost = graph.cost_of(n);
    const std::filesystem::path file(node.where.file);
    text += "node " + std::to_string(n) + " " + std::string(node.op->name) + " in '" +
            graph.names.path(node.scope) + "' labelled '" + graph.label_of(n) + "' at " +
            file.filename().string() + ":" + std::to_string(node.where.line) + " reads " +
            std::to_string(cost.read_bytes) + " writes " + std::to_string(cost.write_bytes) +
            " computes " + std::to_string(cost.operations) + "\n";
  }
  for (const Edge& edge : edges_of(graph)) {
    text += "edge " + std::to_string(edge.src) + " -> " + std::to_string(edge.dst) + " " +
            std::string(name_of(edge.kind)) + " '" + name(edge.tensor) + "'\n";
  }
  for (const Barrier& barrier : plan.barriers) {
    text += "barrier before " + std::to_string(barrier.before_step) + " " +
            std::string(name_of(barrier.kind)) + " of " + std::to_string(barrier.cause_src) + "\n";
  }
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const GraphTensor& tensor = graph.tensors[t];
    if (tensor.role != TensorRole::state) {
      text += "tensor '" + name(t) + "' " + to_string(tensor.spec) + " " +
              std::string(name_of(tensor.role)) + "\n";
    }
  }
  return text;
}

TEST_P(ExecutorServiceRows, AGraphHoldsNodesEdgesBarriersScopesSourceLinesAndCostAndCanBeSaved) {
  const Tensor table = device_.zeros({2, 4}, DType::f32, "table");
  auto s = executor_.begin_recorded({.name = "container"});
  const Tensor x = s.input("x", {1, 4}, x_);
  const std::uint32_t line = __LINE__ + 4;
  {
    const auto layer = s.scope("layer", 3);
    const auto mlp = s.scope("mlp");
    const Tensor y = mul(s, add(s, x, x), w_);
    set_rows(s, table, y, SetRowsAttributes{.position = 0});
    s.output("y", y);
  }
  set_rows(s, table, x, SetRowsAttributes{.position = 1});
  CapturedGraph graph = s.finish().graph;
  const std::string file = "executor_service_rows_test.cpp:";
  const std::string expected =
      "node 0 add in 'layer.3/mlp' labelled 'mlp' at " + file + std::to_string(line) +
      " reads 32 writes 16 computes 4\n" + "node 1 mul in 'layer.3/mlp' labelled 'mlp' at " + file +
      std::to_string(line) + " reads 32 writes 16 computes 4\n" +
      "node 2 set_rows in 'layer.3/mlp' labelled 'mlp' at " + file + std::to_string(line + 1) +
      " reads 20 writes 16 computes 0\n" + "node 3 set_rows in '' labelled '' at " + file +
      std::to_string(line + 4) + " reads 20 writes 16 computes 0\n" +
      "edge 0 -> 1 RAW ''\nedge 1 -> 2 RAW 'y'\nedge 2 -> 3 RAW 'table'\n"
      "barrier before 1 RAW of 0\nbarrier before 2 RAW of 1\nbarrier before 3 RAW of 2\n"
      "tensor 'x' f32 [1, 4] input\ntensor '' f32 [1, 4] activation\n"
      "tensor 'w' f32 [4] param\ntensor 'y' f32 [1, 4] output\n"
      "tensor 'table' f32 [2, 4] param\n";
  EXPECT_EQ(text_of(graph.plan()), expected);
  const ExecutionPlan value = graph.plan();
  const std::string structure = graph.structure_hash();
  const test::TempFolder folder;
  graph.save(folder / "graph");
  graph = {};
  EXPECT_EQ(text_of(value), expected) << "it is a value";
  LoadedGraph loaded =
      executor_.load_graph(folder / "graph", {.tensors = {{"table", table}, {"w", w_}}});
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  EXPECT_EQ(text_of(loaded.graph.plan()), expected);
  EXPECT_EQ(loaded.graph.structure_hash(), structure);
  loaded.graph.set_input("x", other_);
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("y"), result(other_));
}

TEST_P(ExecutorServiceRows, KernelsCompileAtFirstUseByNameAndConstantsOrInPrewarmAndStayOnDisk) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder / "pipelines";
  const auto content = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const bool compiles = GetParam() == "vulkan";
  const auto record = [&](GraphSession& s, const Tensor& w, const Tensor& table) {
    const Tensor y = mul(s, s.input("x", {1, 4}, x_), w);
    set_rows(s, table, y, SetRowsAttributes{.position = 0});
    s.output("y", y);
  };
  const Tensor planned_table = device_.zeros({1, 4}, DType::f32);
  const CapturedGraph planned =
      executor_.capture([&](GraphSession& s) { record(s, w_, planned_table); }, {}, {.run = false})
          .graph;
  std::string saved;
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again ? "from the file" : "without a file");
    {
      const Device device = fresh_device(file);
      GraphExecutor executor(device);
      const Tensor w = device.from_host({4}, Floats{1, 10, 100, 1000}, "w");
      const Tensor table = device.from_host({1, 4}, Floats(4, 7), "table");
      const auto created = [&] {
        std::vector<std::uint64_t> ns;
        const StepList& steps = planned.plan().steps;
        for (std::size_t i = 0; i < steps.size(); ++i) {
          Kernel kernel = steps[i].kernel;
          const auto info = device.backend().kernel_info(kernel);
          ns.push_back(info ? info->pipeline_create_ns : 0);
          kernel.constants[0] += 1;
          EXPECT_FALSE(device.backend().kernel_info(kernel)) << "another constant is another one";
        }
        return ns;
      };
      const auto pass = [&](GraphSession& s) { record(s, w, table); };
      EXPECT_EQ(created(), (std::vector<std::uint64_t>{0, 0})) << "before their first use";
      EXPECT_EQ(executor.prewarm(pass).kernels, compiles ? 2U : 0U);
      const std::vector<std::uint64_t> once = created();
      EXPECT_EQ(once[0] > 0 && once[1] > 0, compiles);
      EXPECT_EQ(device.to_host<float>(table), Floats(4, 7)) << "the pass did not run";
      auto direct = executor.begin();
      pass(direct);
      EXPECT_EQ(direct.finish().read("y"), (Floats{1, 20, 300, 4000}));
      EXPECT_EQ(executor.capture(pass).read("y"), (Floats{1, 20, 300, 4000}));
      EXPECT_EQ(created(), once) << "each was compiled once";
      EXPECT_EQ(validation_message_count(device), 0U);
    }
    EXPECT_EQ(std::filesystem::exists(file), compiles);
    if (again) {
      EXPECT_EQ(content(), saved) << "nothing was compiled that was not in it";
    }
    saved = content();
  }
}

TEST_P(ExecutorServiceRowsInBothForms, MemoryOfATensorIsUsedAgainInsideASessionAndByTheNextOne) {
  constexpr std::uint64_t kElements = std::uint64_t{1} << 18U, kBytes = kElements * sizeof(float);
  const CapturePool pool(device_);
  const Floats ones(kElements, 1);
  std::vector<CapturedGraph> graphs;
  const auto run = [&](float doublings) {
    auto s = begin();
    Tensor y = s.input("x", {static_cast<std::int64_t>(kElements)}, ones);
    for (float i = 0; i < doublings; ++i) {
      y = add(s, y, y);
    }
    s.output("y", y);
    FinishResult finished = s.finish(recorded() ? FinishOptions{.pool = pool} : FinishOptions{});
    EXPECT_EQ(finished.read("y"), Floats(kElements, std::exp2(doublings)));
    graphs.push_back(std::move(finished.graph));
    return finished.report;
  };
  // The input, and what is read and written at either side of a barrier.
  EXPECT_LE(run(24).arena_bytes, 6 * kBytes);
  const std::size_t pooled = pool.buffer_count();
  EXPECT_EQ(pooled, recorded() ? 1U : 0U);
  const std::uint64_t allocations = this->allocations();
  EXPECT_EQ(run(24).arena_growths, 0U);
  EXPECT_EQ(pool.buffer_count(), pooled);
  if (!recorded()) {
    EXPECT_EQ(this->allocations(), allocations);
  }
}

TEST_P(ExecutorServiceRowsInBothForms,
       AGgufFileWithATensorTypeNobodyComputesWithLoadsAndFailsAtItsUse) {
  test::GgufBuilder builder;
  builder.text("general.architecture", "llama");
  builder.tensor("odd", {256}, 16, std::string(66, '\1'));  // iq2_xxs
  std::string weights;
  for (const float value : {1.0F, 10.0F, 100.0F, 1000.0F}) {
    weights += test::raw(value);
  }
  builder.tensor("w", {4}, 0, weights);
  const test::TempFile path(builder.bytes());
  const GgufFile file = GgufFile::open(path.path());
  EXPECT_EQ(file.value("general.architecture").as_string(), "llama");
  const GgufTensor& w = file.tensor("w");
  w_ = device_.from_host(w.shape, w.require_dtype(), w.data, "w");
  auto s = begin();
  pass(s);
  EXPECT_EQ(s.finish().read("y"), result(x_));
  EXPECT_EQ(file.tensor("odd").data.size(), 66U);
  expect_error(ErrorCode::unsupported, {"odd", "iq2_xxs"},
               [&] { (void)file.tensor("odd").require_dtype(); });
}

TEST_P(ExecutorServiceRowsInBothForms, SamplingOnTheDeviceGivesTheNextPassItsToken) {
  constexpr std::int32_t kTokens = 5;
  const StateBlock state(device_, StateLayout().carried("pos").carried("token", 1));
  Floats following(std::size_t{kTokens} * kTokens);
  for (std::size_t t = 0; t < kTokens; ++t) {  // after t comes 3 * t + 1
    following[t * kTokens + (3 * t + 1) % kTokens] = 2;
    following[t * kTokens + (3 * t + 2) % kTokens] = 1;
  }
  const Tensor logits = device_.from_host({kTokens, kTokens}, following, "logits");
  const auto record = [&](GraphSession& s) {
    const Tensor next = argmax(s, get_rows(s, logits, s.state("token")));
    advance(s, next, {.position = s.state("pos"), .token = s.state("token")});
    s.output("next", next);
  };
  CapturedGraph graph;
  if (recorded()) {
    graph = executor_.capture(record, {.state = state}, {.slots = 8, .run = false}).graph;
  }
  std::vector<Ticket> tickets;  // no token is read before all passes are submitted
  for (int i = 0; i < 6; ++i) {
    if (recorded()) {
      tickets.push_back(graph.launch_async());
    } else {
      auto s = executor_.begin({.state = state});
      record(s);
      tickets.push_back(s.submit());
    }
  }
  Ints tokens;
  for (const Ticket& ticket : tickets) {
    tokens.push_back(ticket.read<std::int32_t>("next")[0]);
  }
  EXPECT_EQ(tokens, (Ints{4, 3, 0, 1, 4, 3}));
  EXPECT_EQ(state.get("pos"), 6);
}

TEST_P(ExecutorServiceRowsInBothForms, ASlidingWindowWritesAtThePositionModuloTheWindow) {
  constexpr std::int32_t kWindow = 4;
  const StateBlock state(device_, StateLayout().carried("pos").host("rows", 1));
  const Tensor ring = device_.zeros({kWindow + 1, 1}, DType::f32, "ring");
  const auto record = [&](GraphSession& s, std::int64_t rows) {
    const Tensor kv = s.input("kv", {rows, 1});
    set_rows(s, ring, kv, {.position = s.state("pos"), .window = kWindow});
    advance(s, s.input("next", {1}, DType::i32),
            {.position = s.state("pos"), .rows = s.state("rows")});
  };
  GraphCache cache(executor_);
  const GraphOwner owner("model");
  const auto write = [&](const Floats& kv) {
    const auto rows = static_cast<std::int64_t>(kv.size());
    const Ints next{0};
    state.set("rows", static_cast<std::int32_t>(rows));
    const SessionOptions options{.state = state, .inputs = {{"kv", kv}, {"next", next}}};
    if (recorded()) {
      cache
          .run(
              {.owner = owner, .tag = "write", .bucket = {rows}},
              [&](GraphSession& s) { record(s, rows); }, options)
          .ticket.wait();
    } else {
      auto s = executor_.begin(options);
      record(s, rows);
      (void)s.finish();
    }
  };
  write({1, 2, 3});
  EXPECT_EQ(host(ring), (Floats{1, 2, 3, 0, 0}));
  write({4, 5});
  EXPECT_EQ(host(ring), (Floats{5, 2, 3, 4, 0}));
  for (float value = 6; value <= 12; ++value) {
    write({value});
  }
  EXPECT_EQ(host(ring), (Floats{9, 10, 11, 12, 0})) << "the row behind the window is nobody's";
  EXPECT_EQ(state.get("pos"), 12);
}

TEST_P(ExecutorServiceRows, ATimingModePerGraphPutsEveryDispatchIntoTheDatabase) {
  const test::TempFolder folder;
  const auto path = folder / "profile.db";
  {
    GraphExecutor executor(device_, {.profile = path, .timing = TimingMode::off});
    const auto capture = [&](const char* name) {
      return executor.capture([&](GraphSession& s) { pass(s); }, {.name = name}, {.run = false})
          .graph;
    };
    CapturedGraph off = capture("off"), replay = capture("replay"), node = capture("node");
    replay.set_timing(TimingMode::replay);
    node.set_timing(TimingMode::node);
    for (int i = 0; i < 3; ++i) {
      for (CapturedGraph* graph : {&off, &replay, &node}) {
        graph->launch();
        EXPECT_EQ(graph->read("y"), result(x_));
        EXPECT_EQ(graph->last_times().device_ns.has_value(), graph != &off);
      }
    }
    auto untimed = executor.begin({.name = "direct off"});
    pass(untimed);
    (void)untimed.finish();
    executor.set_timing(TimingMode::node);
    auto timed = executor.begin({.name = "direct on"});
    pass(timed);
    (void)timed.finish();
  }
  const std::string by_node =
      device_.backend().traits().overlaps_dispatches ? "node serialised" : "node";
  EXPECT_EQ(test::sql(path,
                      "SELECT graph, timing_mode, count(*), count(device_us), "
                      "sum(has_step_timings) FROM v_replays GROUP BY graph ORDER BY graph"),
            "direct off|off|1|0|0\ndirect on|" + by_node + "|1|1|1\nnode|" + by_node +
                "|3|3|3\noff|off|3|0|0\nreplay|replay|3|3|0");
  EXPECT_EQ(test::sql(path,
                      "SELECT op, count(*), count(dur_ns) FROM v_step_timings GROUP BY step "
                      "ORDER BY step"),
            "add|4|4\nmul|4|4");
  EXPECT_EQ(test::sql(path, "SELECT graph, op, replays FROM v_top_nodes ORDER BY node, graph"),
            "direct on|add|1\nnode|add|2\ndirect on|mul|1\nnode|mul|2")
      << "statistics leave the first replay of a recording out; a direct session has no other";
  EXPECT_EQ(test::sql(path,
                      "SELECT name, device_ns IS NOT NULL FROM sessions WHERE mode = 'direct' "
                      "ORDER BY id"),
            "direct off|0\ndirect on|1");
}

}  // namespace
}  // namespace reprise::testing
