// Setting, launching and reading allocate nothing once a graph runs: neither from the heap nor from
// the device.
#include "bench/heap_calls.h"
#include "reprise/backend/backend.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Allocation : public ::testing::TestWithParam<std::string> {
 protected:
  struct Counts {
    std::uint64_t heap = 0, device = 0;
    bool operator==(const Counts&) const = default;
  };
  Counts counts() const { return {bench::heap_calls(), device_.backend().allocation_count()}; }
  CapturedGraph capture(GraphExecutor& executor) {
    auto s = executor.begin_recorded({.name = "launched", .state = state_});
    Tensor x = s.input("x", {64}, x_);
    for (int i = 0; i < 20; ++i) {
      x = add(s, x, x);
    }
    s.output("y", get_rows(s, reshape(s, x, {4, 16}), s.state("row")));
    return s.finish().graph;
  }
  /// One of each path, so that what is made at first use is made.
  template <class F>
  void expect_nothing_allocated(F&& launch) {
    for (int i = 0; i < 8; ++i) {
      launch(i);
    }
    const Counts before = counts();
    for (int i = 0; i < 50; ++i) {
      launch(i);
    }
    EXPECT_EQ(counts().heap - before.heap, 0U);
    EXPECT_EQ(counts().device - before.device, 0U);
  }

  // Without validation: the layer allocates in every call.
  Device device_ = open_device(GetParam());
  StateBlock state_{device_, StateLayout().host("row", 0)};
  const std::vector<float> x_ = std::vector<float>(64, 1.5F);
};
INSTANTIATE_TEST_SUITE_P(On, Allocation, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Allocation, SetLaunchAndReadTakeNothing) {
  GraphExecutor executor(device_);
  CapturedGraph graph = capture(executor);
  float sum = 0;
  expect_nothing_allocated([&](int i) {
    graph.set_input("x", x_);
    graph.set_state("row", i % 4);
    graph.launch();
    float first = 0;
    std::memcpy(&first, graph.output("y").bytes.data(), sizeof(first));
    sum += first;
  });
  EXPECT_GT(sum, 0);
}

TEST_P(Allocation, StepsThatThreadsShareTakeNothing) {
  GraphExecutor executor(device_, {.precision = Precision::fast});
  constexpr std::int64_t kRows = 40, kColumns = 256;
  std::mt19937_64 rng(1);
  const Tensor w = device_.from_host({1024, kColumns}, DType::q8_0,
                                     random_bytes(rng, DType::q8_0, 1024 * kColumns, -1, 1), "w");
  auto s = executor.begin_recorded({.name = "shared"});
  const Tensor x = s.input("x", {kRows, kColumns}, std::vector<float>(kRows * kColumns, 0.5F));
  const Tensor y = reshape(s, matmul(s, rms_norm(s, x, {}), w), {kRows, 16, 64});
  s.output("y", attention(s, y, y, y));
  CapturedGraph graph = s.finish().graph;
  expect_nothing_allocated([&](int /*i*/) { graph.launch(); });
}

TEST_P(Allocation, AsynchronousLaunchesTakeNothing) {
  GraphExecutor executor(device_);
  CapturedGraph graph = capture(executor);
  Ticket last;
  expect_nothing_allocated([&](int i) {
    graph.set_state("row", i % 4);
    Ticket ticket = graph.launch_async();
    last.release();
    last = std::move(ticket);
    if (i % 3 == 0) {
      last.wait();
    }
    (void)last.done();
  });
}

TEST_P(Allocation, SettingArraysOfTheStateTakesNothing) {
  GraphExecutor executor(device_);
  const StateBlock state(device_, StateLayout().array("ids", 4).carried_array("tokens", 4));
  auto s = executor.begin_recorded({.state = state});
  const Tensor table = device_.from_host({4, 16}, x_);
  s.output("y", get_rows(s, table, s.state_array("ids")));
  s.output("z", get_rows(s, table, s.state_array("tokens")));
  CapturedGraph graph = s.finish().graph;
  std::vector<std::int32_t> ids(4);
  expect_nothing_allocated([&](int i) {
    ids[0] = i % 4;
    state.set("ids", ids);
    state.set({{"ids", ids}, {"tokens", ids}});
    graph.launch();
  });
}

TEST_P(Allocation, RunsOfAnExecutableTakeNothing) {
  GraphExecutor executor(device_);
  ExecutableGraph graph(
      executor,
      [](GraphSession& s) {
        const Tensor x = s.input("rows of this run", {s.extent("rows"), 16});
        const Tensor bias = s.param("bias", {16});
        s.output("twice as much", add(s, x, x));
        s.output("a sum by swap", add(s, s.input("swapped sum", {16}), bias));
        s.output("a sum by copy", add(s, s.input("copied sum", {16}), bias));
      },
      {.name = "of a name that no short string holds", .extent = "rows", .buckets = {2, 4}});
  graph.set_param("bias", std::span(x_).first(16));
  graph.create_handle({.name = "swapped sum", .shape = {16}});
  graph.create_handle({.name = "copied sum", .shape = {16}});
  graph.feed("swapped sum", "a sum by swap", {.mode = FeedMode::swap});
  graph.feed("copied sum", "a sum by copy");
  const std::array<std::vector<NamedInput>, 2> inputs{
      std::vector<NamedInput>{{"rows of this run", std::span(x_).first(32)}},
      std::vector<NamedInput>{{"rows of this run", x_}}};
  const InputSlot slot = graph.input_slot("rows of this run");
  int runs = 0;
  expect_nothing_allocated([&](int i) {
    const std::size_t bucket = static_cast<std::size_t>(i / 2 % 2);
    graph.run(inputs[bucket]);
    graph.submit(inputs[1 - bucket]).wait();
    PreparedRun run = graph.prepare();
    std::ranges::copy(std::as_bytes(std::span(x_)), run.bytes(slot).begin());
    run.run();
    runs += 3;
  });
  EXPECT_EQ(graph.read("swapped sum"), std::vector<float>(16, 1.5F * static_cast<float>(runs)));
}

TEST_P(Allocation, RunsThatMissNoExpertTakeNothing) {
  GraphExecutor executor(device_);
  const ExpertStore store(2);
  store.add("layer", "up", {2, 16, 16}, std::vector<float>(512, 0.5F));
  ExecutableGraph graph(
      executor,
      [](GraphSession& s) {
        const Tensor x = reshape(s, s.input("x", {1, 16}), {1, 1, 16});
        const Tensor ids = s.input("ids", {1, 1}, DType::i32);
        s.output("y", s.experts("layer", ids, [&](const PlacedExperts& placed) {
          return placed.matmul(s, x, "up");
        }));
      },
      {.experts = {.store = store, .options = {.budget_bytes = 1024, .refresh_interval = 0}}});
  const std::vector<std::int32_t> id(1);
  const std::vector<NamedInput> inputs{{"x", std::span(x_).first(16)}, {"ids", id}};
  expect_nothing_allocated([&](int /*i*/) { graph.run(inputs); });
  EXPECT_EQ(graph.run(inputs).read("y"), std::vector<float>(16, 12.0F));
}

TEST_P(Allocation, ProfiledLaunchesTakeNothingInAnyMode) {
  const test::TempFolder folder;
  GraphExecutor executor(device_, {.profile = folder / "allocation.db"});
  CapturedGraph graph = capture(executor);
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    SCOPED_TRACE(name_of(mode));
    graph.set_timing(mode);
    expect_nothing_allocated([&](int i) {
      graph.set_state("row", i % 4);
      graph.launch();
    });
  }
}

}  // namespace
}  // namespace reprise::testing
