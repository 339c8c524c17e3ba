// What decode loops need of graphs under keys, a capability per test.
#include "reprise/backend/step.h"
#include "reprise/graph/execution_plan.h"
#include "tests/session/rows/held_device.h"
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

/// y = (x + x) * w under keys.
template <class Base>
class KeyedRows : public Base {
 protected:
  GraphKey key(std::string tag = "pass", std::vector<std::int64_t> bucket = {4}) const {
    return {.owner = owner_, .tag = std::move(tag), .bucket = std::move(bucket)};
  }
  RecordFunction keyed_pass() const {
    return [this](GraphSession& s) { this->pass(s, s.input("x", {4})); };
  }
  KeyedRun run(GraphCache& cache, const GraphKey& under, const Floats& x) const {
    return cache.run(under, keyed_pass(), {.inputs = {{"x", x}}});
  }
  KeyedRun capture(GraphExecutor& executor, const GraphKey& under, const Floats& x,
                   const FinishOptions& options = {}) const {
    auto s = executor.begin_graph_capture({.inputs = {{"x", x}}});
    keyed_pass()(s);
    return executor.end_graph_capture(under, s, options);
  }
  const GraphOwner owner_{"model"};
};
class KeyedGraphRows : public KeyedRows<DeviceRows> {};
class KeyedGraphRowsInBothForms : public FormRows {};
INSTANTIATE_TEST_SUITE_P(On, KeyedGraphRows, ::testing::Values("cpu", "vulkan"), device_param_name);
INSTANTIATE_TEST_SUITE_P(On, KeyedGraphRowsInBothForms, both_forms(), form_name);

TEST_P(KeyedGraphRowsInBothForms, StateHasNamedTypedFieldsAndArraysOfTheHostTheDeviceOrDerived) {
  const auto layout = [] {
    return StateLayout()
        .host("pos")
        .host_f32("eps", 3.0F)
        .carried("token", 1)
        .derived("kv_len", field("pos") + 1)
        .array("ids", 2)
        .carried_array("seen", 3);
  };
  Floats numbers(32);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 100 + static_cast<float>(i);
  }
  const Tensor table = device_.from_host({32, 1}, numbers, "table");
  const auto record = [&](GraphSession& s) {
    s.output("pos", get_rows(s, table, s.state("pos")));
    s.output("kv_len", get_rows(s, table, s.state("kv_len")));
    s.output("token", get_rows(s, table, s.state("token")));
    s.output("ids", get_rows(s, table, s.state_array("ids")));
    s.output("norm", rms_norm(s, s.input("one", {1, 1}, Floats{1}), {}, {.eps = s.state("eps")}));
    const Tensor next = s.input("next", {1}, DType::i32);
    set_rows(s, s.state_array("seen"), next, {.position = s.state("pos"), .window = 3});
    advance(s, next, {.token = s.state("token")});
  };
  struct Sequence {
    StateBlock state;
    CapturedGraph graph;
  };
  std::vector<Sequence> sequences;  // two, so that nothing can be the process's
  for (int i = 0; i < 2; ++i) {
    Sequence one{StateBlock(device_, layout()), {}};
    if (recorded()) {
      const Ints next{0};
      one.graph =
          executor_
              .capture(record, {.state = one.state, .inputs = {{"next", next}}}, {.run = false})
              .graph;
    }
    sequences.push_back(std::move(one));
  }
  const auto step = [&](Sequence& one, std::int32_t token) {
    const Ints next{token};
    if (recorded()) {
      one.graph.set_input("next", next);
      return one.graph.launch_async();
    }
    auto s = executor_.begin({.state = one.state, .inputs = {{"next", next}}});
    record(s);
    return s.submit();
  };
  Sequence &a = sequences[0], &b = sequences[1];
  a.state.set("pos", 17);
  a.state.set("ids", Ints{3, 30});
  b.state.set({{"pos", 4}, {"token", 9}, {"ids", Ints{0, 8}}, {"eps", 15.0F}});
  const Ticket first_a = step(a, 20), first_b = step(b, 21);
  a.state.set("pos", 18);
  const Ticket second_a = step(a, 22), second_b = step(b, 23);
  const auto read = [](const Ticket& ticket) {
    std::vector<Floats> all;
    for (const char* name : {"pos", "kv_len", "token", "ids", "norm"}) {
      all.push_back(ticket.read(name));
    }
    return all;
  };
  using Rows = std::vector<Floats>;
  EXPECT_EQ(read(first_a), (Rows{{117}, {118}, {101}, {103, 130}, {0.5F}}));
  EXPECT_EQ(read(second_a), (Rows{{118}, {119}, {120}, {103, 130}, {0.5F}}));
  EXPECT_EQ(read(first_b), (Rows{{104}, {105}, {109}, {100, 108}, {0.25F}}));
  EXPECT_EQ(read(second_b), (Rows{{104}, {105}, {121}, {100, 108}, {0.25F}}));
  EXPECT_EQ(a.state.get("kv_len"), 19);
  EXPECT_EQ(a.state.get("token"), 22);
  EXPECT_EQ(a.state.values("seen"), (Ints{22, 0, 20})) << "17 and 18 modulo 3";
  EXPECT_EQ(b.state.values("seen"), (Ints{0, 23, 0}));
  expect_error(ErrorCode::invalid_argument, {"kv_len"}, [&] { a.state.set("kv_len", 3); });
  expect_error(ErrorCode::dtype_mismatch, {"pos"}, [&] { a.state.set("pos", 3.0F); });
}

TEST_P(KeyedGraphRowsInBothForms, AnyParameterIsStaticOrDynamicInTheSameKernels) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::int64_t kRows = 8, kHeads = 2, kDim = 16;
  const auto random = [&](std::int64_t elements) {
    return random_bytes(rng, DType::f32, elements, -1, 1);
  };
  const Shape cache_shape{kRows, kHeads, kDim};
  const Tensor cache =
      device_.from_host(cache_shape, DType::f32, random(kRows * kHeads * kDim), "cache");
  const auto rows = random(2 * kHeads * kDim);
  const StateBlock state(device_, StateLayout()
                                      .host("row", 3)
                                      .host("position", 5)
                                      .host("window", 6)
                                      .host("kv_len", 7)
                                      .host("rows", 2)
                                      .host("end", 4)
                                      .host_f32("eps", 0.25F)
                                      .host_f32("base", 500.0F)
                                      .host_f32("rope_scale", 0.5F)
                                      .host_f32("scale", 0.75F)
                                      .carried("pos")
                                      .carried("done"));
  const auto record = [&](GraphSession& s, bool dynamic) {
    const auto whole = [&](const char* field, std::int32_t constant) {
      return dynamic ? Param<std::int32_t>(s.state(field)) : Param<std::int32_t>(constant);
    };
    const auto real = [&](const char* field, float constant) {
      return dynamic ? Param<float>(s.state(field)) : Param<float>(constant);
    };
    const Tensor x = s.input("x", {2, kHeads, kDim}, DType::f32, rows);
    const Tensor table = copy(s, cache);
    const Tensor normed = rms_norm(s, x, {}, {.eps = real("eps", 0.25F)});
    const Tensor turned = rope(s, normed,
                               {.position = whole("position", 5),
                                .base = real("base", 500.0F),
                                .scale = real("rope_scale", 0.5F)});
    set_rows(s, table, turned, {.position = whole("position", 5), .window = whole("window", 6)});
    const Tensor mixed = attention(s, turned, table, table,
                                   {.kv_len = whole("kv_len", 7), .scale = real("scale", 0.75F)});
    const Tensor flat = reshape(s, table, {kRows, kHeads * kDim});
    s.output("mixed", mixed);
    s.output("table", table);
    s.output("row", get_rows(s, flat, whole("row", 3)));
    advance(s, s.input("next", {1}, Ints{4}),
            {.position = s.state("pos"),
             .done = s.state("done"),
             .rows = whole("rows", 2),
             .end_token = whole("end", 4)});
  };
  struct Outcome {
    std::vector<std::vector<std::byte>> outputs;
    Ints state;
    std::vector<std::pair<Kernel, Grid>> kernels;  // of graphs
    bool operator==(const Outcome&) const = default;
  };
  const auto run = [&](bool dynamic) {
    state.set({{"pos", 0}, {"done", 0}});
    auto s = begin({.state = state});
    record(s, dynamic);
    const FinishResult finished = s.finish();
    Outcome outcome;
    for (const char* name : {"mixed", "table", "row"}) {
      outcome.outputs.push_back(finished.read<std::byte>(name));
    }
    outcome.state = {state.get("pos"), state.get("done")};
    if (recorded()) {
      const StepList& steps = finished.graph.plan().steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        outcome.kernels.emplace_back(steps[i].kernel, steps[i].grid);
      }
    }
    return outcome;
  };
  const Outcome constants = run(false);
  EXPECT_EQ(constants.state, (Ints{2, 1}));
  EXPECT_EQ(run(true), constants);
  state.set({{"row", 1}, {"position", 2}, {"kv_len", 3}, {"rows", 1}, {"eps", 1.0F}});
  const Outcome others = run(true);
  for (std::size_t i = 0; i < others.outputs.size(); ++i) {
    EXPECT_NE(others.outputs[i], constants.outputs[i]);
  }
  EXPECT_EQ(others.kernels, constants.kernels);
  EXPECT_EQ(run(false), constants) << "nothing of the dynamic runs is left";
}

TEST_P(KeyedGraphRows, CaptureByKeyRunsAndReplaysAndACacheSaysWhyItMissed) {
  EXPECT_FALSE(executor_.replay_graph(key(), {{"x", x_}}));
  EXPECT_EQ(capture(executor_, key(), x_).read("y"), result(x_));
  const KeyedRun again = executor_.replay_graph(key(), {{"x", other_}});
  EXPECT_TRUE(again);
  EXPECT_EQ(again.read("y"), result(other_));

  struct Told {
    RunOutcome how;
    MissReason miss;
    bool operator==(const Told&) const = default;
  };
  GraphCache cache(executor_, {.finish = {.slots = 2}});
  int calls = 0;
  bool records = true;
  const auto pass = [&](GraphSession& s) {
    ++calls;
    keyed_pass()(s);
    if (!std::exchange(records, true)) {
      throw Error(ErrorCode::unsupported, "Not in a graph.");
    }
  };
  const auto expect = [&](GraphCache& in, const char* tag, const Floats& x, Told told) {
    KeyedRun run = in.run(key(tag), pass, {.inputs = {{"x", x}}});
    EXPECT_EQ((Told{run.how, run.miss}), told) << name_of(run.how) << " " << name_of(run.miss);
    EXPECT_EQ(run.text.empty(), run.miss == MissReason::none) << run.text;
    EXPECT_EQ(run.read("y"), result(x));
    return run;
  };
  const KeyedRun held = expect(cache, "a", x_, {RunOutcome::recorded, MissReason::absent});
  const KeyedRun too = expect(cache, "a", other_, {RunOutcome::replayed, MissReason::none});
  (void)expect(cache, "a", x_, {RunOutcome::direct, MissReason::busy});
  EXPECT_EQ(held.read("y"), result(x_));
  EXPECT_EQ(too.read("y"), result(other_));
  EXPECT_EQ(calls, 2) << "recorded, and run directly";
  records = false;
  (void)expect(cache, "b", x_, {RunOutcome::direct, MissReason::failed});
  (void)expect(cache, "b", other_, {RunOutcome::direct, MissReason::failed});
  EXPECT_EQ(cache.counters().hits, 1U);
  EXPECT_EQ(cache.counters().missed(), 4U);

  // On a device that does not replay, the same calls run the same plan each time.
  device_ = test_device_without_replay(GetParam());
  w_ = device_.from_host({4}, Floats{1, 10, 100, 1000}, "w");
  GraphExecutor eager(device_);
  GraphCache unable(eager);
  (void)expect(unable, "a", x_, {RunOutcome::direct, MissReason::unsupported});
  (void)expect(unable, "a", other_, {RunOutcome::direct, MissReason::unsupported});
  const KeyedRun first = capture(eager, key(), x_);
  EXPECT_FALSE(first.report.replays);
  EXPECT_EQ(first.read("y"), result(x_));
  EXPECT_EQ(eager.replay_graph(key(), {{"x", other_}}).read("y"), result(other_));
}

TEST_P(KeyedGraphRows, KeysAreStructuredCheckedBoundedAndCounted) {
  GraphCache cache(executor_, {.max_graphs = 5});
  const GraphOwner namesake("model");
  GraphKey by_owner = key(), by_parameters = key();
  by_owner.owner = namesake;
  by_parameters.parameters = hash_parameters("causal", 2);
  const std::vector<GraphKey> keys{key(), by_owner, by_parameters, key("other"),
                                   key("pass", {4, 1})};
  for (const RunOutcome how : {RunOutcome::recorded, RunOutcome::replayed}) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Floats x{static_cast<float>(i), 1, 2, 3};
      const KeyedRun one = run(cache, keys[i], x);
      EXPECT_EQ(one.how, how) << "each is another key";
      EXPECT_EQ(one.read("y"), result(x));
    }
  }
  EXPECT_EQ(run(cache, key("sixth"), x_).read("y"), result(x_));
  EXPECT_EQ(cache.find(keys[0]).miss, MissReason::evicted) << "used longest ago";
  for (std::size_t i = 1; i < keys.size(); ++i) {
    EXPECT_TRUE(cache.find(keys[i]));
  }
  const auto other_structure = [&](GraphSession& s) {
    const Tensor x = s.input("x", {4});
    s.output("y", mul(s, mul(s, x, x), w_));
  };
  expect_error(ErrorCode::invalid_argument,
               {"pass [4] of 'model'", "op 0 mul", "it was add", "keyed_graph_rows_test.cpp:"},
               [&] {
                 (void)cache.run(keys[0], other_structure, {.inputs = {{"x", x_}}});
               });
  EXPECT_EQ(run(cache, keys[0], x_).miss, MissReason::evicted);
  // Memory that went takes the key's graph with it, not the key.
  device_.free(w_);
  w_ = device_.from_host({4}, Floats{1, 10, 100, 1000}, "new w");
  const KeyedRun again = run(cache, keys[0], other_);
  EXPECT_EQ(again.miss, MissReason::stale);
  EXPECT_NE(again.text.find("(w)"), std::string::npos) << again.text;
  EXPECT_EQ(again.read("y"), result(other_));
  const GraphCacheCounters counters = cache.counters();
  EXPECT_EQ(counters.hits, 5U);
  EXPECT_EQ(counters.missed(MissReason::absent), 6U);
  EXPECT_EQ(counters.missed(MissReason::evicted), 1U) << "what was refused is no run";
  EXPECT_EQ(counters.missed(MissReason::stale), 1U);
  EXPECT_EQ(counters.recorded, 8U);
  EXPECT_EQ(counters.evicted, 2U);
  EXPECT_EQ(counters.stale, 1U);
  EXPECT_EQ(counters.graphs, 5U);
}

TEST_P(KeyedGraphRows, ResetsAreScopedCountedAndSafeWithWorkInFlight) {
  GraphExecutor other(device_);
  for (const char* tag : {"a", "b", "c"}) {
    (void)capture(executor_, key(tag), x_, {.slots = 2});
  }
  (void)capture(other, key("a"), x_);
  const Tensor old = w_;
  {
    HeldDevice held(device_);
    const KeyedRun a = executor_.replay_graph(key("a"), {{"x", x_}});
    const KeyedRun b = executor_.replay_graph(key("b"), {{"x", other_}});
    EXPECT_EQ(executor_.reset_graph(key("a")), 1U);
    EXPECT_EQ(executor_.reset_graph(key("a")), 0U);
    EXPECT_EQ(executor_.replay_graph(key("a"), {{"x", x_}}).miss, MissReason::reset);
    EXPECT_EQ(executor_.reset_all_graphs(), 2U);
    EXPECT_EQ(executor_.reset_all_graphs(), 0U);
    EXPECT_EQ(executor_.graph_counters().reset, 3U);
    device_.free(old);  // nor does what the graphs were recorded with go early
    EXPECT_FALSE(a.ticket.done());
    EXPECT_FALSE(b.ticket.done());
    held.open();
    EXPECT_EQ(a.read("y"), result(x_));
    EXPECT_EQ(b.read("y"), result(other_));
  }
  // The other executor's graph was not reset, but its memory is gone: it is never replayed.
  const KeyedRun stale = other.replay_graph(key("a"), {{"x", x_}});
  EXPECT_FALSE(stale);
  EXPECT_EQ(stale.miss, MissReason::stale);
  EXPECT_NE(stale.text.find("(w)"), std::string::npos) << stale.text;
  w_ = device_.from_host({4}, Floats{1, 10, 100, 1000}, "w");
  EXPECT_EQ(capture(other, key("a"), other_).read("y"), result(other_));
  EXPECT_EQ(executor_.reset_all_graphs(), 0U);
  EXPECT_EQ(other.replay_graph(key("a"), {{"x", x_}}).read("y"), result(x_));
}

}  // namespace
}  // namespace reprise::testing
