// Several iterations of a graph in one submission: the device decides which of them run.
#include <numeric>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::int32_t kEnd = 13;

/// Counts up: the token of an iteration is the one before plus one.
class Iterations : public ::testing::TestWithParam<std::string> {
 protected:
  static StateLayout layout() {
    return StateLayout()
        .host("end", kEnd)
        .carried("pos", 0)
        .carried("token", 0)
        .carried("done", 0)
        .derived("length", field("pos") + 1, {.low = 0, .high = kCapacity})
        .stop_when("done");
  }
  /// Row `pos` of the table gets the token as a float; the next token is the argmax of a row of
  /// `following`.
  void record(GraphSession& s) {
    const Tensor row = get_rows(s, following_, s.state("token"));
    const Tensor next = argmax(s, row);
    set_rows(s, table_, row, {.position = s.state("pos")});
    advance(s, next,
            {.position = s.state("pos"),
             .token = s.state("token"),
             .done = s.state("done"),
             .end_token = s.state("end")});
    s.output("next", next);
    s.output("row", row);
    s.output("halves", cast(s, row, DType::f16));
  }
  FinishResult counter(std::uint32_t max_iterations, FinishOptions options = {}) {
    auto s = executor_.begin_recorded(
        {.name = "counter", .state = state_, .max_iterations = max_iterations});
    record(s);
    return s.finish(options);
  }
  CapturedGraph idle_counter(std::uint32_t max_iterations, std::size_t slots = 2) {
    return counter(max_iterations, {.slots = slots, .run = false}).graph;
  }

  static constexpr std::int32_t kTokens = 40, kCapacity = 24;
  static std::vector<float> successors() {
    std::vector<float> rows(kTokens * kTokens);
    for (std::int32_t t = 0; t < kTokens; ++t) {
      rows[static_cast<std::size_t>(t * kTokens + (t + 1) % kTokens)] = 1;
    }
    return rows;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  Tensor following_ = device_.from_host({kTokens, kTokens}, successors(), "following");
  Tensor table_ = device_.zeros({kCapacity, kTokens}, DType::f32, "table");
  StateBlock state_{device_, layout()};
};
INSTANTIATE_TEST_SUITE_P(On, Iterations, ::testing::Values("cpu", "vulkan"), device_param_name);

std::vector<std::int32_t> tokens_of(const Ticket& ticket) {
  std::vector<std::int32_t> tokens;
  for (std::uint32_t i = 0; i < ticket.iterations(); ++i) {
    tokens.push_back(ticket.read<std::int32_t>("next", i)[0]);
  }
  return tokens;
}

std::vector<std::int32_t> count(std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(to - from + 1));
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST_P(Iterations, OneSubmissionRunsManyAndKeepsARowOfEach) {
  CapturedGraph graph = idle_counter(8);
  const Ticket first = graph.launch_async({.iterations = 5});
  const Ticket second = graph.launch_async({.iterations = 3});
  EXPECT_EQ(tokens_of(first), count(1, 5));
  EXPECT_EQ(tokens_of(second), count(6, 8));
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(first.state("pos", i), static_cast<std::int32_t>(i) + 1);
    EXPECT_EQ(first.state("length", i), static_cast<std::int32_t>(i) + 1);
    std::vector<float> row(kTokens);
    row[i + 1] = 1;
    EXPECT_EQ(first.read("row", i), row);
  }
  EXPECT_EQ(second.state("pos"), 8);
  EXPECT_EQ(graph.num_replays(), 8U);
}

TEST_P(Iterations, OutputsWithoutARowAreThoseOfTheLastOne) {
  CapturedGraph graph = idle_counter(8);
  const Ticket ticket = graph.launch_async({.iterations = 4});
  EXPECT_EQ(ticket.read<std::byte>("halves"), ticket.read<std::byte>("halves", 3));
  expect_error(ErrorCode::invalid_argument, {"halves", "(2)", "last", "(3)"},
               [&] { (void)ticket.read<std::byte>("halves", 2); });
  expect_error(ErrorCode::invalid_argument, {"(4)", "4 did"},
               [&] { (void)ticket.read<std::int32_t>("next", 4); });
}

TEST_P(Iterations, GiveTheSameTokensForEveryNumberPerSubmission) {
  for (const std::uint32_t k : {1U, 2U, 8U, 64U}) {
    const StateBlock state(device_, layout());
    state_ = state;
    CapturedGraph graph = idle_counter(64);
    std::vector<std::int32_t> tokens;
    while (state.get("done") == 0) {
      const Ticket ticket = graph.launch_async({.iterations = k});
      const auto some = tokens_of(ticket);
      tokens.insert(tokens.end(), some.begin(), some.end());
    }
    EXPECT_EQ(tokens, count(1, kEnd)) << k << " per submission";
  }
}

TEST_P(Iterations, EndInsideASubmissionWritesNothingMore) {
  CapturedGraph graph = idle_counter(8);
  std::vector<std::int32_t> tokens;
  std::vector<std::uint32_t> ran;
  for (int launch = 0; launch < 3; ++launch) {
    const Ticket ticket = graph.launch_async({.iterations = 8});
    const auto some = tokens_of(ticket);
    tokens.insert(tokens.end(), some.begin(), some.end());
    ran.push_back(ticket.iterations());
  }
  EXPECT_EQ(tokens, count(1, kEnd));
  EXPECT_EQ(ran, (std::vector<std::uint32_t>{8, 5, 0}));
  EXPECT_EQ(state_.get("done"), 1);
  EXPECT_EQ(state_.get("pos"), kEnd);
  EXPECT_EQ(graph.num_replays(), static_cast<std::uint64_t>(kEnd));
  std::vector<float> expected(kCapacity * kTokens);
  for (std::int32_t row = 0; row < kEnd; ++row) {
    expected[static_cast<std::size_t>(row * kTokens + row + 1)] = 1;
  }
  const std::vector<std::byte> written = device_.to_host(table_);
  const auto bytes = std::as_bytes(std::span(expected));
  EXPECT_EQ(written, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

TEST_P(Iterations, ALaunchWithoutAnyHasNoOutputs) {
  state_.set("done", 1);
  CapturedGraph graph = idle_counter(8);
  graph.launch({.iterations = 8});
  EXPECT_EQ(graph.iterations(), 0U);
  EXPECT_EQ(graph.num_replays(), 0U);
  expect_error(ErrorCode::invalid_argument, {"(0)", "did not run"},
               [&] { (void)graph.read<std::int32_t>("next"); });
}

TEST_P(Iterations, APatchStartsAFinishedSequenceAgain) {
  CapturedGraph graph = idle_counter(16);
  graph.launch({.iterations = 16});
  EXPECT_EQ(graph.iterations(), static_cast<std::uint32_t>(kEnd));
  graph.set_state("done", 0);
  graph.set_state("end", 99);
  graph.set_state("pos", 2);
  graph.set_state("token", 20);
  graph.launch({.iterations = 3});
  EXPECT_EQ(graph.read<std::int32_t>("next", 0)[0], 21);
  EXPECT_EQ(graph.read<std::int32_t>("next")[0], 23);
  EXPECT_EQ(graph.state("pos"), 5);
}

TEST_P(Iterations, StopOnTheDeviceWhereAFieldLeavesItsRange) {
  state_.set("end", 99);
  CapturedGraph graph = idle_counter(64);
  const Ticket ticket = graph.launch_async({.iterations = 64});
  EXPECT_EQ(ticket.iterations(), static_cast<std::uint32_t>(kCapacity));
  EXPECT_EQ(ticket.state("pos"), kCapacity);
  expect_error(ErrorCode::invalid_argument, {"length", "(25)", "0 to 24"},
               [&] { (void)graph.launch_async({.iterations = 1}); });
  graph.set_state("pos", 0);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 1);
}

TEST_P(Iterations, ALaunchPastTheRangeWaitsForWhatIsInFlightBeforeItIsRefused) {
  state_.set("pos", kCapacity - 2);
  CapturedGraph graph = idle_counter(8, 4);
  const Ticket ended = graph.launch_async({.iterations = 8});
  expect_error(ErrorCode::invalid_argument, {"length", "(25)"},
               [&] { (void)graph.launch_async({.iterations = 8}); });
  EXPECT_EQ(ended.iterations(), 2U);
  state_.set("pos", 0);
  state_.set("token", kEnd - 3);
  const Ticket stopped = graph.launch_async({.iterations = 8});
  const Ticket after = graph.launch_async({.iterations = 8});
  EXPECT_EQ(stopped.iterations(), 3U);
  EXPECT_EQ(after.iterations(), 0U);
}

TEST_P(Iterations, AGraphThatRunsOnceIsRefusedAtTheEndOfItsRangeToo) {
  state_.set("pos", kCapacity - 2);
  CapturedGraph graph = counter(1).graph;
  graph.launch();
  for (int i = 0; i < 2; ++i) {
    expect_error(ErrorCode::invalid_argument, {"length", "(25)"}, [&] { graph.launch(); });
  }
  graph.set_state("pos", 3);
  graph.launch();
  EXPECT_EQ(graph.state("pos"), 4);
}

TEST_P(Iterations, ADirectSessionIsRefusedAtTheEndOfItsRangeToo) {
  state_.set("pos", kCapacity);
  auto s = executor_.begin({.state = state_});
  record(s);
  expect_error(ErrorCode::invalid_argument, {"length", "(25)"}, [&] { s.finish(); });
}

TEST_P(Iterations, AreRefusedWhereTheyAreNotPossible) {
  CapturedGraph graph = idle_counter(8);
  for (const std::uint32_t wrong : {0U, 9U}) {
    expect_error(ErrorCode::invalid_argument, {"counter", "(" + std::to_string(wrong) + ")", "8"},
                 [&] { graph.launch({.iterations = wrong}); });
  }
  expect_error(ErrorCode::invalid_argument, {"(2)", "recorded"},
               [&] { (void)executor_.begin({.state = state_, .max_iterations = 2}); });
  expect_error(ErrorCode::invalid_argument, {"(2)", "state"},
               [&] { (void)executor_.begin_recorded({.max_iterations = 2}); });
  expect_error(ErrorCode::invalid_argument, {"(0)", "4096"},
               [&] { (void)executor_.begin_recorded({.state = state_, .max_iterations = 0}); });
}

TEST_P(Iterations, AreTimedOneByOne) {
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    const StateBlock state(device_, layout());
    state_ = state;
    CapturedGraph graph = idle_counter(8);
    graph.set_timing(mode);
    for (const std::uint32_t k : {3U, 8U, 1U}) {
      const Ticket ticket = graph.launch_async({.iterations = k});
      ticket.wait();
      EXPECT_EQ(ticket.times().device_ns.has_value(), mode != TimingMode::off);
    }
    EXPECT_EQ(graph.state("pos"), 12);
  }
}

TEST_P(Iterations, OfOneKindAllocateNoDeviceMemoryAfterTheFirst) {
  state_.set("end", 99);
  CapturedGraph graph = idle_counter(8);
  graph.launch({.iterations = 4});
  const std::uint64_t settled = device_.backend().allocation_count();
  for (int i = 0; i < 4; ++i) {
    graph.launch({.iterations = 4});
  }
  EXPECT_EQ(device_.backend().allocation_count(), settled);
}

TEST_P(Iterations, SkippedOnesHaveTheirStatusInTheDatabase) {
  const test::TempFolder folder;
  const auto path = folder / "profile.db";
  {
    GraphExecutor executor(device_, {.profile = path, .run = {}, .log = {}});
    auto s = executor.begin_recorded({.name = "counter", .state = state_, .max_iterations = 8});
    record(s);
    CapturedGraph graph = s.finish({.run = false}).graph;
    graph.launch({.iterations = 8});
    graph.launch({.iterations = 8});
  }
  EXPECT_EQ(test::sql(path,
                      "SELECT status, count(*), count(DISTINCT submission), max(iteration), "
                      "count(state) FROM replays GROUP BY status ORDER BY status"),
            "0|13|2|7|13\n1|3|1|7|0");
}

}  // namespace
}  // namespace reprise::testing
