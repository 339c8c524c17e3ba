// What an executable graph can do, a capability per test.
#include <numeric>

#include "reprise/graph/execution_plan.h"
#include "reprise/session/saved_graphs.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/session/counted_backend.h"
#include "tests/session/executable/executable_test.h"
#include "tests/session/rows/held_device.h"

namespace reprise::testing {
namespace {

class ExecutableRows : public ExecutableTest {};
INSTANTIATE_TEST_SUITE_P(On, ExecutableRows, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExecutableRows, ParamsAreSetByNameAsFloatsOrAsBytesOfTheirDtype) {
  ExecutableGraph graph(executor_, [](GraphSession& s) {
    const Tensor x = mul(s, s.input("x", {4}), s.param("w", {4}));
    s.output("y", add(s, x, cast(s, s.param("b", {4}, DType::f16), DType::f32)));
  });
  graph.set_param("w", w);
  const std::vector<std::uint16_t> halves(4, 0x3C00);  // 1.0
  graph.set_param("b", std::as_bytes(std::span(halves)), DType::f16);
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), (Floats{2, 11, 101, 1001}));
  graph.set_param("w", ones);
  EXPECT_EQ(graph.run({{"x", ones}}).read("y"), (Floats{2, 2, 2, 2}));
}

TEST_P(ExecutableRows, ARunTakesInputsByNameAndGivesNamedTypedOutputs) {
  ExecutableGraph graph(executor_, [](GraphSession& s) {
    const Tensor x = s.input("x", {2, 4});
    s.output("top", argmax(s, x));
    s.output("twice", add(s, x, x));
  });
  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.inputs()[0].spec.shape, Shape({2, 4}));
  ASSERT_EQ(graph.outputs().size(), 2U);
  const Ticket result = graph.run({{"x", Floats{0, 9, 1, 2, 5, 4, 3, 7}}});
  EXPECT_TRUE(result.ran());
  EXPECT_EQ(result.read<std::int32_t>("top"), (Ints{1, 3}));
  EXPECT_EQ(result.output("top").spec.dtype, DType::i32);
  EXPECT_EQ(result.output("twice").spec.shape, Shape({2, 4}));
  EXPECT_EQ(result.read("twice"), (Floats{0, 18, 2, 4, 10, 8, 6, 14}));
}

TEST_P(ExecutableRows, InputsAreWrittenBySlotWhereTheDeviceReadsThem) {
  ExecutableGraph graph = scaled_graph();
  const InputSlot x = graph.input_slot("x");
  for (int i = 1; i < 5; ++i) {
    PreparedRun run = graph.prepare();
    const std::span<std::byte> memory = run.bytes(x);
    ASSERT_EQ(memory.size(), 16U);
    const Floats values(4, static_cast<float>(i));
    std::ranges::copy(bytes_of(values), memory.begin());
    EXPECT_EQ(run.run().read("y"), times_w(values));
    PreparedRun copied = graph.prepare();
    copied.write(x, bytes_of(values));
    EXPECT_EQ(copied.run().read("y"), times_w(values));
  }
}

TEST_P(ExecutableRows, AForkSharesParamsAndPlansAndHasAStateAnArenaSlotsAndHandlesOfItsOwn) {
  ExecutableGraph graph(executor_, summed, {.state = StateLayout().host("pos", 3), .slots = 1});
  graph.create_handle({.name = "h", .shape = {4}});
  graph.feed("h", "sum", {.mode = FeedMode::copy, .to_host = true});
  EXPECT_EQ(graph.run({{"x", ones}}).read("sum"), ones);
  graph.state().set("pos", 5);
  const std::size_t recordings = graph.recordings();
  ExecutableGraph fork = graph.fork();
  EXPECT_EQ(fork.run({{"x", ones}}).read("sum"), ones) << "its handle begins at zeros";
  EXPECT_EQ(fork.read("h"), ones);
  EXPECT_EQ(graph.run({{"x", ones}}).read("sum"), Floats(4, 2));
  EXPECT_EQ(graph.recordings(), recordings) << "the plan is shared";
  EXPECT_FALSE(fork.state() == graph.state());
  EXPECT_TRUE(fork.params() == graph.params());
  const Ticket held = graph.submit({{"x", ones}});  // its only slot
  EXPECT_NO_THROW(fork.run({{"x", ones}}));
}

TEST_P(ExecutableRows, SharedPlansKeepNoMemoryOfTheGraphTheyWereMadeFor) {
  constexpr std::int64_t kElements = 65'536;
  constexpr std::uint64_t kBytes = kElements * sizeof(float);
  const auto in_use = [&] { return device_.memory().total.bytes; };
  ExecutableGraph graph(executor_, [](GraphSession& s) {
    s.output("y", add(s, s.input("a", {kElements}), s.input("b", {kElements})));
  });
  for (const char* name : {"a", "b"}) {
    graph.create_handle({.name = name, .shape = {kElements}});
  }
  graph.bind("a", Floats(kElements, 1));
  graph.bind("b", Floats(kElements, 2));
  std::optional<ExecutableGraph> fork(graph.fork());
  fork->bind("b", Floats(kElements, 20));
  EXPECT_EQ(fork->run().read("y"), Floats(kElements, 20)) << "the plan is made for this one";
  EXPECT_EQ(graph.run().read("y"), Floats(kElements, 3));
  EXPECT_EQ(graph.recordings(), 2U) << "and shared: one is for values, one for handles";
  const std::uint64_t before = in_use();
  fork.reset();
  EXPECT_LE(in_use() + 2 * kBytes, before) << "its handles are gone";
  EXPECT_EQ(graph.run().read("y"), Floats(kElements, 3));
}

TEST_P(ExecutableRows, TheActiveExtentStaysUntilItIsChangedOrCleared) {
  ExecutableGraph graph = rows_graph();
  Floats x(32);
  std::iota(x.begin(), x.end(), 1.0F);
  const auto first_rows = [&](std::size_t n) {
    return times_w(Floats(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n * 4)));
  };
  graph.set_active_extent(3);
  for (int i = 0; i < 3; ++i) {
    const Ticket result = graph.run({{"x", x}, {"c", c}});
    EXPECT_EQ(result.read("y"), first_rows(3));
    EXPECT_EQ(result.output("y").spec.shape, Shape({3, 4}));
  }
  EXPECT_EQ(graph.active_extent(), 3);
  graph.set_active_extent(1);
  EXPECT_EQ(graph.run({{"x", x}, {"c", c}}).read("y"), first_rows(1));
  graph.clear_active_extent();
  EXPECT_EQ(graph.active_extent(), std::nullopt);
  EXPECT_EQ(graph.run({{"x", x}, {"c", c}}).read("y"), first_rows(8)) << "as many as x has";
}

TEST_P(ExecutableRows, OneRecordingServesEveryExtentOfItsBucketAndParamsAreUploadedOnce) {
  ExecutableGraph graph = rows_graph();
  const std::uint64_t bytes = graph.params().bytes();
  for (std::size_t n = 1; n <= 8; ++n) {
    Floats x(n * 4);
    std::iota(x.begin(), x.end(), static_cast<float>(n));
    EXPECT_EQ(graph.run({{"x", x}, {"c", c}}).read("y"), times_w(x));
  }
  EXPECT_EQ(graph.recordings(), 2U) << "one per bucket";
  EXPECT_EQ(graph.params().bytes(), bytes);
  EXPECT_EQ(bytes, 16U);
}

TEST_P(ExecutableRows, AHandleIsBoundReadAndFeedsTheInputOfItsName) {
  for (const HandleResidency residency : {HandleResidency::device, HandleResidency::host}) {
    ExecutableGraph graph(executor_, summed);
    EXPECT_FALSE(graph.has_handle("h"));
    graph.create_handle({.name = "h", .shape = {4}, .residency = residency});
    EXPECT_TRUE(graph.has_handle("h"));
    EXPECT_EQ(graph.run({{"x", ones}}).read("sum"), ones);
    graph.bind("h", w);
    EXPECT_EQ(graph.read("h"), w);
    EXPECT_EQ(graph.run({{"x", ones}}).read("sum"), (Floats{2, 11, 101, 1001}));
    EXPECT_EQ(graph.read("h"), w) << "nothing feeds it";
  }
}

TEST_P(ExecutableRows, TwoGraphsShareTheTensorThatBothHandlesAreBoundTo) {
  ExecutableGraph writer(executor_, tabled), reader(executor_, [](GraphSession&s) {
    s.output("rows", add(s, s.input("h", {2, 4}), s.input("x", {1, 4})));
  });
  const Tensor table = device_.zeros({2, 4}, DType::f32, "table");
  for (ExecutableGraph* graph : {&writer, &reader}) {
    graph->create_handle({.name = "h", .shape = {2, 4}});
    graph->bind("h", table);
  }
  (void)writer.run({{"x", w}});
  EXPECT_EQ(reader.run({{"x", ones}}).read("rows"), (Floats{1, 1, 1, 1, 2, 11, 101, 1001}));
  EXPECT_EQ(host(table), (Floats{0, 0, 0, 0, 1, 10, 100, 1000}));
}

TEST_P(ExecutableRows, SubmitReturnsAtOnceAndWaitAllWaitsForEverything) {
  ExecutableGraph graph = scaled_graph();
  (void)graph.run({{"x", ones}});
  HeldDevice held(device_);
  const Ticket first = graph.submit({{"x", ones}});
  const Ticket second = graph.submit({{"x", w}});
  EXPECT_FALSE(first.done());
  EXPECT_FALSE(second.done());
  held.open();
  graph.wait_all();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done());
  EXPECT_EQ(first.read("y"), w);
  EXPECT_EQ(second.read("y"), times_w(w));
}

TEST_P(ExecutableRows, PipelinedRunsLeaveTheirOwnOutputsInOrderInAsMuchMemoryAsTheSlotsHave) {
  ExecutableGraph graph = scaled_graph(3);
  (void)graph.run({{"x", ones}});
  std::vector<Floats> values;
  for (int i = 0; i < 64; ++i) {
    values.emplace_back(4, static_cast<float>(i));
  }
  std::vector<std::vector<NamedInput>> runs;
  for (const Floats& x : values) {
    runs.push_back({{"x", x}});
  }
  const std::uint64_t allocations = this->allocations();
  const std::vector<OutputSet> outputs = graph.run_pipelined(runs);
  EXPECT_EQ(this->allocations(), allocations);
  ASSERT_EQ(outputs.size(), 64U);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(floats(outputs[i].find("y").bytes), times_w(values[i])) << i;
  }
  std::size_t next = 0;
  graph.run_pipelined(runs, [&](std::size_t i, const Ticket& result) {
    EXPECT_EQ(i, next++);
    EXPECT_EQ(result.read("y"), times_w(values[i]));
  });
  EXPECT_EQ(next, 64U);
}

TEST_P(ExecutableRows, BeyondItsSlotsASubmitSaysThatItWouldBlockAndNeverOverwrites) {
  ExecutableGraph graph = scaled_graph(1);
  const Ticket held = graph.submit({{"x", w}});
  held.wait();
  expect_error(ErrorCode::busy, {"All (1) slots"}, [&] { (void)graph.submit({{"x", ones}}); });
  EXPECT_EQ(held.read("y"), times_w(w));
}

TEST_P(ExecutableRows, CompiledAheadARunRecordsNothing) {
  ExecutableGraph graph = rows_graph();
  graph.compile();
  EXPECT_EQ(graph.recordings(), 2U);
  const DeviceStatus before = device_.status();
  for (const std::size_t rows : {1U, 2U, 3U, 8U}) {
    const Floats x(rows * 4, 2);
    EXPECT_EQ(graph.run({{"x", x}, {"c", c}}).read("y"), times_w(x)) << rows;
  }
  EXPECT_EQ(graph.recordings(), 2U);
  const DeviceStatus after = device_.status();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.kernels.created, before.kernels.created);
}

TEST_P(ExecutableRows, CompiledAheadNoRunEncodesWhicheverWayItsHandlesAreSwapped) {
  const auto backend = std::make_shared<CountedBackend>(device_);
  GraphExecutor executor{Device(backend)};
  if (!executor.device().backend().traits().replays) {
    GTEST_SKIP() << "Every launch of this device encodes.";
  }
  ExecutableGraph graph(executor, summed);
  graph.create_handle({.name = "h", .shape = {4}});
  graph.feed("h", "sum", {.mode = FeedMode::swap});
  graph.compile();
  EXPECT_EQ(graph.read<float>("h"), Floats(4, 0)) << "as if it had not been compiled";
  const std::uint64_t encodings = backend->encodings(), allocations = backend->allocation_count();
  const std::uint64_t kernels = backend->kernel_counters().created;
  for (int run = 0; run < 4; ++run) {
    graph.run({{"x", ones}});
  }
  EXPECT_EQ(backend->encodings(), encodings);
  EXPECT_EQ(backend->allocation_count(), allocations);
  EXPECT_EQ(backend->kernel_counters().created, kernels);
  EXPECT_EQ(graph.read<float>("h"), Floats(4, 4));
}

TEST_P(ExecutableRows, ACapturedBucketShowsItsGraphPlanReplaysAndTimesAndIsSaved) {
  ExecutableGraph graph = rows_graph();
  graph.set_timing(TimingMode::replay);
  (void)graph.run({{"x", Floats(4, 2)}, {"c", c}});
  (void)graph.run({{"x", Floats(32, 2)}, {"c", c}});
  (void)graph.run({{"x", Floats(8, 2)}, {"c", c}});
  CapturedGraph small = graph.captured(2);
  expect_error(ErrorCode::missing_input, {"input 'x'", "f32 [up to 2, 4]"},
               [&] { small.launch(); });
  EXPECT_EQ(small.num_replays(), 2U);
  EXPECT_EQ(graph.captured().num_replays(), 1U);
  EXPECT_EQ(small.graph().inputs[0].spec.shape.dim(0), 2);
  EXPECT_EQ(graph.captured().graph().inputs[0].spec.shape.dim(0), 8);
  EXPECT_GT(small.plan().steps.size(), 0U);
  EXPECT_EQ(graph.recordings(), 2U) << "what runs have made is shown, nothing is made for it";
  small.set_state("rows", 1);
  small.set_input("x", Floats(4, 3));
  small.set_input("c", c);
  small.launch();
  EXPECT_EQ(small.read("y"), times_w(Floats(4, 3)));
  EXPECT_TRUE(small.last_times().device_ns.has_value());
  const test::TempFolder folder;
  small.save(folder / "small.graph");
  CapturedGraph loaded = executor_
                             .load_graph(folder / "small.graph",
                                         {.tensors = {{"w", device_.from_host({4}, w, "w")}},
                                          .state = StateBlock(device_, graph.state().layout())})
                             .graph;
  loaded.set_state("rows", 2);
  loaded.set_input("x", Floats(8, 5));
  loaded.set_input("c", c);
  loaded.launch();
  EXPECT_EQ(loaded.read("y"), times_w(Floats(8, 5)));
  expect_error(ErrorCode::extent_out_of_range, {"(9)", "0 to 8"}, [&] { (void)graph.captured(9); });
}

TEST_P(ExecutableRows, OneArenaServesAllBucketsAndBothWaysOfSwapping) {
  const auto pass = [](GraphSession& s) {
    Tensor x = s.input("x", {s.extent("rows"), 256});
    for (int i = 0; i < 4; ++i) {
      x = mul(s, add(s, x, x), x);
    }
    s.output("y", x);
    s.output("h", add(s, s.input("h", {4}), s.input("more", {4})));
  };
  const auto arenas_of = [&](const std::vector<std::int64_t>& buckets) {
    const Device device = fresh_test_device(device_name());
    GraphExecutor executor(device);
    ExecutableGraph graph(executor, pass, {.extent = "rows", .buckets = buckets});
    graph.create_handle({.name = "h", .shape = {4}});
    graph.feed("h", "h", {.mode = FeedMode::swap});
    for (const std::int64_t rows : buckets) {  // the smallest first
      (void)graph.run({{"x", Floats(static_cast<std::size_t>(rows) * 256, 1)}, {"more", ones}});
    }
    graph.compile();
    return device.memory().of(MemoryPurpose::arenas).bytes;
  };
  const std::uint64_t largest = arenas_of({64});
  EXPECT_GE(largest, 64U * 256 * 4);
  EXPECT_LE(arenas_of({1, 16, 64}), largest + largest / 10);
}

TEST_P(ExecutableRows, TheRecordingUsedLeastRecentlyMakesRoomAndOneThatIsHeldStays) {
  ExecutableGraph graph(executor_, rows,
                        {.extent = "rows", .buckets = {1, 2, 8}, .max_recordings = 2});
  graph.set_param("w", w);
  const auto run = [&](std::size_t rows) {
    const Floats x(rows * 4, 2);
    Ticket ticket = graph.run({{"x", x}, {"c", c}});
    EXPECT_EQ(ticket.read("y"), times_w(x)) << rows;
    return ticket;
  };
  (void)run(1);
  (void)run(2);
  (void)run(1);
  (void)run(8);  // that of 2 rows goes
  EXPECT_EQ(graph.captured(1).num_replays(), 2U);
  EXPECT_EQ(graph.captured(8).num_replays(), 1U);
  (void)run(2);  // that of 1 row goes
  EXPECT_EQ(graph.captured(2).num_replays(), 1U);
  EXPECT_EQ(graph.recordings(), 3U) << "plans stay";
  {
    const Ticket two = run(2), eight = run(8);
    expect_error(ErrorCode::busy, {"at most (2) recordings"}, [&] { (void)run(1); });
    EXPECT_EQ(two.read("y"), times_w(Floats(8, 2)));
    EXPECT_EQ(eight.read("y"), times_w(Floats(32, 2)));
  }
  (void)run(1);
  expect_error(ErrorCode::invalid_argument, {"needs (3) recordings", "at most (2)"},
               [&] { graph.compile(); });
}

TEST_P(ExecutableRows, ARunRunsItsPassSoManyTimesOnTheDeviceAndHandlesFollow) {
  const auto pass = [](GraphSession& s) {
    const Tensor h = add(s, s.input("h", {4}), s.input("x", {4}));
    s.output("h", h);
    s.output("scaled", add(s, h, h));
    advance(s, s.input("id", {1}, DType::i32), {.position = s.state("pos"), .rows = 1});
  };
  ExecutableGraph graph(executor_, pass,
                        {.state = StateLayout().carried("pos", 0), .max_iterations = 5});
  graph.create_handle({.name = "h", .shape = {4}});
  graph.feed("h", "h");
  const std::vector<NamedInput> inputs{{"x", ones}, {"id", Ints{1}}};
  graph.compile();
  const std::uint64_t before = submissions();
  graph.set_iterations(4);
  Ticket ticket = graph.run(inputs);
  EXPECT_EQ(submissions(), before + 1);
  EXPECT_EQ(ticket.iterations(), 4U);
  EXPECT_EQ(ticket.read("scaled", 1), Floats(4, 4));
  EXPECT_EQ(ticket.read("scaled"), Floats(4, 8));
  EXPECT_EQ(graph.read("h"), Floats(4, 4));
  EXPECT_EQ(graph.state().get("pos"), 4);
  graph.set_iterations(1);
  (void)graph.run(inputs);
  EXPECT_EQ(graph.read("h"), Floats(4, 5));
  expect_error(ErrorCode::invalid_argument, {"(6)", "1 to 5"}, [&] { graph.set_iterations(6); });
  graph.create_handle({.name = "other", .shape = {4}});
  expect_error(ErrorCode::unsupported, {"(other)", "up to (5) times"},
               [&] { graph.feed("other", "scaled", {.mode = FeedMode::swap}); });
}

struct Fed {
  std::string device;
  FeedMode mode;
  bool swap_in_table = false;
};

class ExecutableFeeds : public ExecutableTest {
 protected:
  /// h grows by x in every run, whichever kind it is.
  void expect_every_run_feeds(FeedMode mode, bool to_host) {
    ExecutableGraph graph = summed_graph();
    graph.feed("h", "sum", {.mode = mode, .to_host = to_host});
    float sum = 0;
    const auto expect_grown = [&](float by) {
      sum += by;
      EXPECT_EQ(graph.read("h"), Floats(4, sum));
    };
    (void)graph.run({{"x", ones}});
    expect_grown(1);
    {
      PreparedRun run = graph.prepare();
      run.write(graph.input_slot("x"), bytes_of(ones));
      const Ticket ticket = run.submit();
    }
    expect_grown(1);
    { const Ticket a = graph.submit({{"x", ones}}), b = graph.submit({{"x", ones}}); }
    expect_grown(2);
    const std::vector<std::vector<NamedInput>> runs(7, {{"x", ones}});
    const auto outputs = graph.run_pipelined(runs);
    expect_grown(7);
    if (to_host) {
      EXPECT_EQ(floats(outputs[3].find("sum").bytes), Floats(4, 8));
    } else {
      EXPECT_TRUE(outputs[3].all().empty());
    }
    ASSERT_TRUE(graph.try_submit({{"x", ones}}).has_value());
    expect_grown(1);
    graph.bind("h", Floats(4, 100));
    sum = 100;
    (void)graph.run({{"x", ones}});
    expect_grown(1);
  }
};
INSTANTIATE_TEST_SUITE_P(On, ExecutableFeeds, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutableFeeds, ByCopyGoIntoTheHandleInEveryKindOfRun) {
  expect_every_run_feeds(FeedMode::copy, false);
}
TEST_P(ExecutableFeeds, BySwapGoIntoTheHandleInEveryKindOfRun) {
  expect_every_run_feeds(FeedMode::swap, false);
}
TEST_P(ExecutableFeeds, ByCopyAreBroughtToTheHostIfAskedFor) {
  expect_every_run_feeds(FeedMode::copy, true);
}
TEST_P(ExecutableFeeds, BySwapAreBroughtToTheHostIfAskedFor) {
  expect_every_run_feeds(FeedMode::swap, true);
}

TEST_P(ExecutableFeeds, InPlaceAreWhatThePassWroteIntoTheHandle) {
  ExecutableGraph graph(executor_, tabled);
  graph.create_handle({.name = "h", .shape = {2, 4}});
  graph.feed("h", "h", {.mode = FeedMode::in_place});
  graph.bind("h", Floats{1, 1, 1, 1, 9, 9, 9, 9});
  EXPECT_EQ(graph.run({{"x", w}}).read("y"), (Floats{2, 11, 101, 1001}));
  EXPECT_EQ(graph.read("h"), (Floats{1, 1, 1, 1, 1, 10, 100, 1000}));
}

TEST_P(ExecutableFeeds, InPlaceAreCopiedWhereARunIsGivenAValueInsteadOfTheHandle) {
  ExecutableGraph graph(executor_, tabled);
  graph.create_handle({.name = "h", .shape = {2, 4}});
  graph.feed("h", "h", {.mode = FeedMode::in_place});
  (void)graph.run({{"x", w}, {"h", Floats(8, 5)}});
  EXPECT_EQ(graph.read("h"), (Floats{5, 5, 5, 5, 1, 10, 100, 1000}));
  (void)graph.run({{"x", ones}});
  EXPECT_EQ(graph.read("h"), (Floats{5, 5, 5, 5, 1, 1, 1, 1}));
}

TEST_P(ExecutableFeeds, OfRunsWithoutRowsLeaveTheHandleAsItIs) {
  for (const FeedMode mode : {FeedMode::copy, FeedMode::swap}) {
    ExecutableGraph graph(executor_,
                          [](GraphSession& s) {
                            const Tensor h = s.input("h", {4});
                            s.output("y", add(s, s.input("x", {s.extent("rows"), 4}), h));
                            s.output("next", add(s, h, h));
                          },
                          {.extent = "rows", .buckets = {4}});
    graph.create_handle({.name = "h", .shape = {4}});
    graph.feed("h", "next", {.mode = mode});
    graph.bind("h", ones);
    (void)graph.run({{"x", ones}});
    EXPECT_EQ(graph.read("h"), Floats(4, 2));
    graph.set_active_extent(0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(graph.run({{"x", ones}}).ran());
      EXPECT_EQ(graph.read("h"), Floats(4, 2));
    }
    graph.set_active_extent(1);
    EXPECT_EQ(graph.run({{"x", ones}}).read("y"), Floats(4, 3));
    EXPECT_EQ(graph.read("h"), Floats(4, 4));
  }
}

TEST_P(ExecutableFeeds, ReachAHandleThatIsNoInput) {
  ExecutableGraph graph = scaled_graph();
  graph.create_handle({.name = "last", .shape = {4}});
  graph.feed("last", "y", {.mode = FeedMode::swap});
  (void)graph.run({{"x", ones}});
  EXPECT_EQ(graph.read("last"), w);
  (void)graph.run({{"x", w}});
  EXPECT_EQ(graph.read("last"), times_w(w));
}

}  // namespace
}  // namespace reprise::testing
