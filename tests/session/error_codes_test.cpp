// The same mistake has the same code, whoever is asked.
#include "reprise/session/support.h"
#include "tests/session/executable/executable_test.h"

namespace reprise::testing {
namespace {

class ErrorCodes : public ExecutableTest {
 protected:
  struct Row {
    const char* call;
    std::function<void()> mistake;
  };
  static void expect(ErrorCode code, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.call);
      expect_error(code, {}, row.mistake);
    }
  }
  StateBlock state() const {
    return {device_, StateLayout().host("rows", 2).host_f32("heat").array("ids", 2)};
  }
  static void summed_inputs(GraphSession& s) {
    s.output("y", add(s, s.input("x", {4}), s.input("x2", {4})));
  }
  /// y = x + x2
  FinishResult graph(const StateBlock& state, std::size_t slots = 2) {
    return executor_.capture(summed_inputs, {.state = state, .inputs = {{"x", w}, {"x2", w}}},
                             {.slots = slots});
  }
  /// Everybody who can be asked for an output or a state field.
  struct Ways {
    StateBlock state;
    FinishResult finished;
    Ticket ticket;
    ExecutableGraph executable;
  };
  Ways ways() {
    const StateBlock state = this->state();
    FinishResult finished = graph(state);
    Ticket ticket = finished.graph.launch_async();
    finished.graph.launch();
    ExecutableGraph executable = scaled_graph();
    return {state, std::move(finished), std::move(ticket), std::move(executable)};
  }
  GraphSession session(const StateBlock& state) {
    return executor_.begin({.state = state, .inputs = {{"x", w}}});
  }
  KeyedRun cached(const std::vector<NamedInput>& inputs) {
    return GraphCache(executor_).run({.owner = owner_, .tag = "key"}, summed_inputs,
                                     {.inputs = inputs});
  }
  const GraphOwner owner_{"model"};
  const Floats five_ = Floats(5, 1);
  const Ints integers_ = Ints(4, 1);
};
INSTANTIATE_TEST_SUITE_P(On, ErrorCodes, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ErrorCodes, OfNamesThatAreUnknown) {
  Ways all = ways();
  CapturedGraph& graph = all.finished.graph;
  expect(ErrorCode::unknown_name,
         {{"CapturedGraph::set_input", [&] { graph.set_input("z", w); }},
          {"CapturedGraph::set_state", [&] { graph.set_state("z", 1); }},
          {"CapturedGraph::read", [&] { (void)graph.read("z"); }},
          {"CapturedGraph::state", [&] { (void)graph.state("z"); }},
          {"FinishResult::read", [&] { (void)all.finished.read("z"); }},
          {"Ticket::read", [&] { (void)all.ticket.read("z"); }},
          {"Ticket::state", [&] { (void)all.ticket.state("z"); }},
          {"StateBlock::set", [&] { all.state.set("z", 1); }},
          {"StateBlock::set, array", [&] { all.state.set("z", integers_); }},
          {"StateBlock::get", [&] { (void)all.state.get("z"); }},
          {"StateBlock::values", [&] { (void)all.state.values("z"); }},
          {"GraphSession::state", [&] { (void)session(all.state).state("z"); }},
          {"GraphSession::extent", [&] { (void)session(all.state).extent("z"); }},
          {"GraphSession::state_array", [&] { (void)session(all.state).state_array("z"); }},
          {"SessionOptions::inputs", [&] { (void)session(all.state).finish(); }},
          {"GraphCache::run",
           [&] {
             (void)cached({{"x", w}, {"x2", w}, {"z", w}});
           }},
          {"ExecutableGraph::run",
           [&] {
             (void)all.executable.run({{"x", w}, {"z", w}});
           }},
          {"ExecutableGraph::input_slot", [&] { (void)all.executable.input_slot("z"); }},
          {"ExecutableGraph::set_param", [&] { all.executable.set_param("z", w); }},
          {"ExecutableGraph::read", [&] { (void)all.executable.read("z"); }},
          {"ExecutableGraph::bind", [&] { all.executable.bind("z", w); }},
          {"supports", [&] { (void)supports(executor_, "z", {}); }}});
}

TEST_P(ErrorCodes, OfValuesOfADifferentDtype) {
  Ways all = ways();
  CapturedGraph& graph = all.finished.graph;
  expect(ErrorCode::dtype_mismatch,
         {{"CapturedGraph::set_input", [&] { graph.set_input("x", integers_); }},
          {"CapturedGraph::set_state", [&] { graph.set_state("rows", 1.0F); }},
          {"CapturedGraph::read", [&] { (void)graph.read<std::int32_t>("y"); }},
          {"CapturedGraph::state", [&] { (void)graph.state("heat"); }},
          {"FinishResult::read", [&] { (void)all.finished.read<std::int32_t>("y"); }},
          {"Ticket::read", [&] { (void)all.ticket.read<std::int32_t>("y"); }},
          {"Ticket::state", [&] { (void)all.ticket.state<float>("rows"); }},
          {"StateBlock::set", [&] { all.state.set("heat", 1); }},
          {"StateBlock::set, array", [&] { all.state.set("ids", Floats(2, 1)); }},
          {"StateBlock::get", [&] { (void)all.state.get<float>("rows"); }},
          {"StateBlock::values", [&] { (void)all.state.values<float>("ids"); }},
          {"GraphSession::input", [&] { (void)session(all.state).input("x", {4}, DType::i32); }},
          {"GraphCache::run",
           [&] {
             (void)cached({{"x", w}, {"x2", integers_}});
           }},
          {"ExecutableGraph::run",
           [&] {
             (void)all.executable.run({{"x", integers_}});
           }},
          {"Device::write", [&] { device_.write(w_, integers_); }},
          {"Device::to_host", [&] { (void)device_.to_host<std::int32_t>(w_); }}});
}

TEST_P(ErrorCodes, OfValuesOfADifferentSize) {
  const StateBlock state = this->state();
  CapturedGraph graph = this->graph(state).graph;
  ExecutableGraph executable = scaled_graph();
  expect(ErrorCode::size_mismatch,
         {{"CapturedGraph::set_input", [&] { graph.set_input("x", five_); }},
          {"CapturedGraph::set_state", [&] { graph.set_state("ids", integers_); }},
          {"StateBlock::set", [&] { state.set("ids", integers_); }},
          {"GraphSession::input", [&] { (void)session(state).input("x", {4}, five_); }},
          {"SessionOptions::inputs", [&] { (void)session(state).input("x", {5}); }},
          {"GraphCache::run",
           [&] {
             (void)cached({{"x", w}, {"x2", five_}});
           }},
          {"ExecutableGraph::run",
           [&] {
             (void)executable.run({{"x", five_}});
           }},
          {"ExecutableGraph::set_param", [&] { executable.set_param("w", five_); }},
          {"Device::from_host", [&] { (void)device_.from_host({4}, five_); }},
          {"Device::write", [&] { device_.write(w_, five_); }}});
}

TEST_P(ErrorCodes, OfMissingValues) {
  ExecutableGraph executable = scaled_graph();
  expect(ErrorCode::missing_input,
         {{"GraphSession::input", [&] { (void)executor_.begin().input("x", {4}); }},
          {"GraphCache::run",
           [&] {
             (void)cached({{"x", w}});
           }},
          {"ExecutableGraph::run", [&] { (void)executable.run(); }},
          {"PreparedRun::submit", [&] { (void)executable.prepare().submit(); }}});
}

TEST_P(ErrorCodes, OfRowsOutOfRange) {
  const StateBlock state(device_, StateLayout().host("rows", 2));
  const auto rows = [](GraphSession& s) {
    s.output("y", scale(s, s.input("x", {s.extent("rows"), 1}), {}));
  };
  CapturedGraph graph =
      executor_.capture(rows, {.state = state, .extents = {{"rows", 4}}, .inputs = {{"x", w}}})
          .graph;
  ExecutableGraph executable(executor_, rows, {.extent = "rows", .buckets = {4}});
  expect(ErrorCode::extent_out_of_range,
         {{"CapturedGraph::set_input", [&] { graph.set_input("x", five_); }},
          {"CapturedGraph::launch",
           [&] {
             graph.set_state("rows", 5);
             graph.launch();
           }},
          {"ExecutableGraph::run",
           [&] {
             (void)executable.run({{"x", five_}});
           }},
          {"ExecutableGraph::set_active_extent", [&] { executable.set_active_extent(5); }}});
}

TEST_P(ErrorCodes, OfSlotsThatAreAllInUse) {
  CapturedGraph graph = this->graph(state(), 1).graph;
  const Ticket held = graph.launch_async();
  ExecutableGraph executable = scaled_graph(1), prepared = scaled_graph();
  const Ticket run = executable.submit({{"x", w}});
  const PreparedRun open = prepared.prepare();
  expect(ErrorCode::busy, {{"CapturedGraph::launch", [&] { graph.launch(); }},
                           {"CapturedGraph::launch_async", [&] { (void)graph.launch_async(); }},
                           {"ExecutableGraph::run",
                            [&] {
                              (void)executable.run({{"x", w}});
                            }},
                           {"ExecutableGraph::prepare", [&] { (void)prepared.prepare(); }}});
}

TEST_P(ErrorCodes, AfterAShutdown) {
  CapturedGraph graph = this->graph(state()).graph;
  GraphSession open = executor_.begin();
  executor_.shutdown();
  expect(ErrorCode::shut_down, {{"GraphExecutor::begin", [&] { (void)executor_.begin(); }},
                                {"GraphSession::finish", [&] { (void)open.finish(); }},
                                {"CapturedGraph::launch", [&] { graph.launch(); }}});
}

}  // namespace
}  // namespace reprise::testing
