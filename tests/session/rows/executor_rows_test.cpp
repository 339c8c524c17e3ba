// What an executor can do, a capability per test.
#include <barrier>
#include <thread>
#include <utility>

#include "reprise/graph/execution_plan.h"
#include "tests/session/counted_backend.h"
#include "tests/session/rows/held_device.h"
#include "tests/session/rows/row_test.h"

namespace reprise::testing {
namespace {

class ExecutorRows : public DeviceRows {};
class ExecutorRowsInBothForms : public FormRows {};
INSTANTIATE_TEST_SUITE_P(On, ExecutorRows, ::testing::Values("cpu", "vulkan"), device_param_name);
INSTANTIATE_TEST_SUITE_P(On, ExecutorRowsInBothForms, both_forms(), form_name);

TEST_P(ExecutorRowsInBothForms, AnExecutorOfADeviceHasAnyNumberOfOpenSessionsOneThreadEach) {
  constexpr int kSessions = 12;
  GraphExecutor executor(device_, {.timing = TimingMode::off});
  EXPECT_EQ(&executor.device().backend(), &device_.backend());
  std::barrier all(kSessions);
  std::vector<Floats> results(kSessions);
  std::vector<std::thread> threads;
  threads.reserve(kSessions);
  for (int i = 0; i < kSessions; ++i) {
    threads.emplace_back([&, i] {
      auto s = begin(executor);
      all.arrive_and_wait();  // all of them are open
      const auto first = static_cast<float>(i);
      pass(s, s.input("x", {4}, Floats{first, 1, 2, 3}));
      all.arrive_and_wait();
      results[static_cast<std::size_t>(i)] = s.finish().read("y");
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_EQ(results[static_cast<std::size_t>(i)], result({static_cast<float>(i), 1, 2, 3}));
  }
}

/// Counts what is asked of the device behind it.
class CountedCalls final : public CountedBackend {
 public:
  using CountedBackend::CountedBackend;
  std::uint64_t submit(std::span<const EncodingRef> encodings, AfterSubmit then) override {
    ++submits;
    return CountedBackend::submit(encodings, then);
  }
  void wait(std::uint64_t submission) override {
    ++waits;
    CountedBackend::wait(submission);
  }
  int submits = 0, waits = 0;
};

TEST_P(ExecutorRows, ADirectSessionSubmitsOnceWaitsOnceAndNoOpAllocates) {
  const auto calls = std::make_shared<CountedCalls>(device_);
  const Device device(calls);
  GraphExecutor executor(device);
  const auto run = [&] {
    auto s = executor.begin();
    Tensor y = s.input("x", {4}, x_);
    const int submits = calls->submits, waits = calls->waits;
    const std::uint64_t allocations = this->allocations();
    for (int op = 0; op < 40; ++op) {
      y = add(s, y, s.input("x" + std::to_string(op), {4}, x_));
    }
    s.output("y", y);
    EXPECT_EQ(calls->submits, submits);
    const std::uint64_t by_ops = this->allocations() - allocations;
    const FinishResult result = s.finish();
    EXPECT_EQ(calls->submits - submits, 1);
    EXPECT_LE(calls->waits - waits, 1) << "none if it was complete at once";
    EXPECT_EQ(result.report.submits, 1U);
    EXPECT_EQ(result.report.ops, 40U);
    EXPECT_FALSE(result.graph);
    EXPECT_EQ(result.read("y"), (Floats{41, 82, 123, 164}));
    return by_ops;
  };
  (void)run();  // what sessions of this executor share is there afterwards
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(), 0U);
  }
}

TEST_P(ExecutorRows, ARecordedSessionRunsNothingUntilFinishAndItsGraphReplaysForEver) {
  const Tensor table = device_.zeros({1, 4}, DType::f32, "table");
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  pass(s, x);
  set_rows(s, table, reshape(s, x, {1, 4}), SetRowsAttributes{.position = 0});
  EXPECT_EQ(host(table), Floats(4, 0));
  FinishResult first = s.finish();
  EXPECT_EQ(first.read("y"), result(x_));
  EXPECT_EQ(host(table), x_);
  const std::uint64_t allocations = this->allocations();
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const Floats next{static_cast<float>(i), 2, 3, 4};
    first.graph.set_input("x", next);
    first.graph.launch();
    ASSERT_EQ(first.graph.read("y"), result(next));
    ASSERT_EQ(first.graph.num_replays(), i + 1);
  }
  EXPECT_EQ(this->allocations(), allocations);
  EXPECT_EQ(host(table), (Floats{200, 2, 3, 4}));
}

TEST_P(ExecutorRowsInBothForms, ADroppedSessionIsDiscardedAndTheExecutorStaysUsable) {
  const Tensor table = device_.zeros({1, 4}, DType::f32, "table");
  const StateBlock state(device_, StateLayout().carried("pos", 7));
  const auto record = [&](GraphSession& s) {
    set_rows(s, table, s.input("row", {1, 4}, x_), SetRowsAttributes{.position = 0});
    advance(s, s.input("next", {1}, Ints{1}), {.position = s.state("pos"), .rows = 1});
    pass(s);
  };
  Tensor gone = device_.from_host({4}, x_, "gone");
  const std::weak_ptr<Buffer> weight = TensorRef(gone)->buffer;
  device_.synchronize();  // it may be copied there
  const std::uint64_t before = submissions();
  {
    const Tensor last = std::exchange(gone, {});
    auto s = begin({.state = state});
    record(s);
    s.output("z", add(s, last, last));
  }
  EXPECT_TRUE(weight.expired()) << "nothing of it is kept";
  try {
    auto s = begin({.state = state});
    record(s);
    throw std::string("of the caller");
  } catch (const std::string&) {  // NOLINT(bugprone-empty-catch): the session went on the way
  }
  EXPECT_EQ(submissions(), before);
  EXPECT_EQ(host(table), Floats(4, 0));
  EXPECT_EQ(state.get("pos"), 7);
  auto s = begin({.state = state});
  record(s);
  EXPECT_EQ(s.finish().read("y"), result(x_));
  EXPECT_EQ(host(table), x_);
  EXPECT_EQ(state.get("pos"), 8);
}

TEST_P(ExecutorRowsInBothForms, AsyncCommitReturnsATicket) {
  auto s = begin();
  pass(s);
  CapturedGraph graph = recorded() ? s.finish({.run = false}).graph : CapturedGraph();
  HeldDevice held(device_);
  const Ticket first = recorded() ? graph.launch_async() : s.submit();
  auto later = executor_.begin();  // the host goes on
  pass(later, later.input("x", {4}, other_));
  const Ticket second = later.submit();
  EXPECT_FALSE(first.done());
  EXPECT_FALSE(second.done());
  held.open();
  first.wait();
  EXPECT_TRUE(first.done());
  EXPECT_EQ(first.read("y"), result(x_));
  EXPECT_EQ(second.read("y"), result(other_));
}

TEST_P(ExecutorRowsInBothForms, BarriersStandBetweenDependentOpsAndNotBetweenIndependentOnes) {
  constexpr std::int64_t kColumns = 64;  // rows of their own, wherever a device aligns them
  const Floats x(kColumns, 3);
  const Tensor table = device_.zeros({2, kColumns}, DType::f32, "table");
  auto s = begin();
  const Tensor in = s.input("x", {1, kColumns}, x);
  const Tensor a = add(s, in, in), b = mul(s, in, in);
  const Tensor upper = slice(s, table, 0, 0, 1), lower = slice(s, table, 0, 1, 1);
  const SetRowsAttributes at_once{.position = 0};
  set_rows(s, upper, a, at_once);  // waits for a, and so for b
  set_rows(s, lower, b, at_once);
  const Tensor seen = copy(s, table);  // waits for both rows
  set_rows(s, upper, in, at_once);     // waits for the copy to have read
  set_rows(s, upper, b, at_once);      // waits for the row it writes into
  s.output("seen", seen);
  s.output("table", table);
  const FinishResult result = s.finish();
  Floats seen_rows(kColumns, 6), table_rows(kColumns, 9);
  seen_rows.insert(seen_rows.end(), kColumns, 9);
  table_rows.insert(table_rows.end(), kColumns, 9);
  EXPECT_EQ(result.read("seen"), seen_rows);
  EXPECT_EQ(result.read("table"), table_rows);
  EXPECT_EQ(result.report.steps, 7U);
  EXPECT_EQ(result.report.barriers, 4U);
  if (recorded()) {
    std::string causes;
    for (const Barrier& barrier : result.graph.plan().barriers) {
      causes += std::string(name_of(barrier.kind)) + " " + std::to_string(barrier.cause_src) +
                " -> " + std::to_string(barrier.before_step) + "\n";
    }
    EXPECT_EQ(causes, "RAW 0 -> 2\nRAW 2 -> 4\nWAR 4 -> 5\nRAW 5 -> 6\n");
  }
}

TEST_P(ExecutorRows, OneLoweringServesDirectRecordedAndSplitSubmission) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::int64_t kDim = 48;
  const auto values = random_bytes(rng, DType::f32, 3 * kDim, -1, 1);
  const Tensor weights = device_.from_host(
      {kDim, kDim}, DType::f16, random_bytes(rng, DType::f16, kDim * kDim, -1, 1), "weights");
  const auto record = [&](GraphSession& s) {
    const Tensor x = s.input("x", {3, kDim}, DType::f32, values);
    const Tensor heads = reshape(s, matmul(s, rms_norm(s, x, {}), weights), {3, 4, kDim / 4});
    const Tensor turned = rope(s, heads, {.position = 5});
    const Tensor mixed = reshape(s, attention(s, turned, turned, heads), {3, kDim});
    s.output("y", add(s, silu_mul(s, mixed, x), x));
    s.output("next", argmax(s, mixed));
  };
  auto direct = executor_.begin();
  record(direct);
  const FinishResult whole = direct.finish();
  const auto expect_equal = [&](const auto& other) {
    EXPECT_EQ(other.template read<std::byte>("y"), whole.read<std::byte>("y"));
    EXPECT_EQ(other.template read<std::int32_t>("next"), whole.read<std::int32_t>("next"));
  };
  for (const std::uint32_t ops : {1U, 3U}) {
    auto split = executor_.begin({.ops_per_submit = ops});
    record(split);
    const FinishResult parts = split.finish();
    EXPECT_EQ(parts.report.submits, whole.report.ops / ops + 1);
    EXPECT_EQ(parts.report.steps, whole.report.steps);
    expect_equal(parts);
  }
  auto recorded = executor_.begin_recorded();
  record(recorded);
  FinishResult replayed = recorded.finish();
  EXPECT_EQ(replayed.report.steps, whole.report.steps);
  EXPECT_EQ(replayed.report.barriers, whole.report.barriers);
  expect_equal(replayed);
  replayed.graph.launch();
  expect_equal(replayed.graph);
}

TEST_P(ExecutorRowsInBothForms, OneFinishReportsWhatTheSessionWasAndWhereItsTimeWent) {
  for (const TimingMode mode : {TimingMode::replay, TimingMode::off}) {
    executor_.set_timing(mode);
    const auto begun = std::chrono::steady_clock::now();
    auto s = begin();
    pass(s);
    FinishResult finished = s.finish(
        recorded() ? FinishOptions{.reuse = ReuseRule::step, .slots = 3} : FinishOptions{});
    const auto wall = std::chrono::steady_clock::now() - begun;
    const FinishReport& report = finished.report;
    EXPECT_EQ(finished.read("y"), result(x_));
    EXPECT_EQ(report.ops, 2U);
    EXPECT_EQ(report.steps, 2U);
    EXPECT_EQ(report.barriers, 1U);
    EXPECT_EQ(report.submits, 1U);
    EXPECT_EQ(report.host_step_ns, 0U);
    EXPECT_GT(report.record_ns, 0U);
    EXPECT_GT(report.encode_ns, 0U);
    EXPECT_GT(report.submit_ns, 0U);
    EXPECT_EQ(report.plan_ns > 0, recorded());
    const std::uint64_t sum =
        report.record_ns + report.plan_ns + report.encode_ns + report.submit_ns + report.wait_ns;
    EXPECT_LE(sum, static_cast<std::uint64_t>(std::chrono::nanoseconds(wall).count()))
        << "no time is counted twice";
    EXPECT_EQ(report.device_ns.has_value(), mode != TimingMode::off);
    if (recorded()) {
      EXPECT_TRUE(report.replays);
      EXPECT_EQ(report.arena_bytes, finished.graph.plan().arena_bytes);
      EXPECT_EQ(finished.graph.slots(), 3U);
    }
  }
}

}  // namespace
}  // namespace reprise::testing
