// Work of the caller's own between the steps of a device: direct, recorded and in every replay.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/host_step_sessions.h"

namespace reprise::testing {
namespace {

class HostSteps : public HostStepSessions {};
INSTANTIATE_TEST_SUITE_P(On, HostSteps, host_step_places(), name_of_place);

TEST_P(HostSteps, RunBetweenTheOpsAroundThem) {
  for (const bool recorded : {false, true}) {
    SCOPED_TRACE(recorded);
    auto s = begin(recorded);
    const Tensor x = s.input("x", {4}, x_);
    const Tensor sorted = host_step(s, "sort", {add(s, x, x)}, {spec_}, sort_values)[0];
    s.output("y", mul(s, sorted, x));
    FinishResult result = finish(s, recorded);
    EXPECT_EQ(result.read("y"), (Values{8, 4, 18, 16}));
    EXPECT_EQ(result.report.submits, 2U);
    EXPECT_EQ(result.report.ops, 3U);
    if (recorded) {
      result.graph.set_input("x", Values{1, 2, 3, 0});
      result.graph.launch();
      EXPECT_EQ(result.graph.read("y"), (Values{0, 4, 12, 0}));
      EXPECT_EQ(result.graph.last_times().submits, 2U);
    }
  }
}

TEST_P(HostSteps, OfOneSessionFollowEachOther) {
  for (const bool recorded : {false, true}) {
    SCOPED_TRACE(recorded);
    int calls = 0;
    auto s = begin(recorded);
    Tensor x = s.input("x", {4}, x_);
    for (int i = 0; i < 3; ++i) {  // of growing size, the second right behind the first
      const Tensor once = host_step(s, "a", {x}, {spec_}, [&](HostStepCall& call) {
        ++calls;
        std::ranges::transform(call.input<float>(0), call.output<float>(0).begin(),
                               [](float v) { return v + 1; });
      })[0];
      const auto both = host_step(
          s, "b", {once, x}, {spec_, TensorSpec({2, 4}, DType::f32)}, [&](HostStepCall& call) {
            ++calls;
            EXPECT_EQ(call.input_count(), 2U);
            EXPECT_EQ(call.output_count(), 2U);
            EXPECT_EQ(call.output_spec(1).shape, Shape({2, 4}));
            std::ranges::copy(call.input<float>(0), call.output<float>(0).begin());
            std::ranges::fill(call.output<float>(1), 1.0F);
          });
      x = add(s, add(s, both[0], x), slice(s, both[1], 0, 1, 1));
      x = reshape(s, x, {4});
    }
    s.output("y", x);
    FinishResult result = finish(s, recorded);
    EXPECT_EQ(result.read("y"), (Values{46, 22, 38, 30}));  // 2 x + 2, three times
    EXPECT_EQ(calls, 6);
    if (recorded) {
      for (int i = 0; i < 5; ++i) {
        result.graph.launch();
        EXPECT_EQ(result.graph.read("y"), (Values{46, 22, 38, 30}));
      }
      EXPECT_EQ(calls, 36);
      EXPECT_EQ(result.graph.num_replays(), 6U);
    }
  }
}

TEST_P(HostSteps, WriteATensorInPlace) {
  for (const bool recorded : {false, true}) {
    SCOPED_TRACE(recorded);
    const Tensor log = device_.from_host({4}, Values{1, 1, 1, 1}, "log");
    auto s = begin(recorded);
    const Tensor x = s.input("x", {4}, x_);
    host_step(
        s, "log", {x}, {},
        [](HostStepCall& call) {
          EXPECT_EQ(call.output_count(), 0U);
          EXPECT_EQ(to_string(call.in_place_spec()), "f32 [4]");
          const auto all = call.in_place<float>();
          for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] += call.input<float>(0)[i];
          }
        },
        log);
    s.output("y", add(s, log, x));
    FinishResult result = finish(s, recorded);
    EXPECT_EQ(result.read("y"), (Values{9, 3, 7, 5}));
    if (recorded) {
      result.graph.launch();
      EXPECT_EQ(result.graph.read("y"), (Values{13, 4, 10, 7}));
    }
  }
}

TEST_P(HostSteps, MayHaveNoTensorsAtAll) {
  for (const bool recorded : {false, true}) {
    int calls = 0;
    auto s = begin(recorded);
    host_step(s, "count", {}, {}, [&](HostStepCall&) { ++calls; });
    FinishResult result = finish(s, recorded);
    EXPECT_EQ(calls, 1);
    if (recorded) {
      result.graph.launch();
      EXPECT_EQ(calls, 2);
    }
  }
}

TEST_P(HostSteps, SeeEveryDtypeAsBytes) {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const Tensor half = device_.from_host({2}, DType::f16, bytes, "half");
  for (const bool recorded : {false, true}) {
    auto s = begin(recorded);
    s.output("y",
             host_step(s, "reverse", {half}, {TensorSpec({2}, DType::f16)}, [](HostStepCall& call) {
               std::ranges::reverse_copy(call.input(0), call.output(0).begin());
             })[0]);
    EXPECT_EQ(finish(s, recorded).read<std::byte>("y"),
              (std::vector<std::byte>{std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}}));
  }
}

TEST_P(HostSteps, LeaveTheDirectSessionAndReplaysBitEqual) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::int64_t kRows = 16, kCols = 96;
  const auto bytes = random_bytes(rng, DType::f32, kRows * kCols, -1, 1);
  const Tensor w = device_.from_host({kCols, kCols}, DType::f32,
                                     random_bytes(rng, DType::f32, kCols * kCols, -1, 1), "w");
  std::vector<std::vector<std::byte>> runs;
  for (const bool recorded : {false, true}) {
    auto s = begin(recorded);
    Tensor x = s.input("x", {kRows, kCols}, DType::f32, bytes);
    for (int i = 0; i < 4; ++i) {
      x = matmul(s, x, w);
      x = host_step(s, "square", {x}, {TensorSpec({kRows, kCols}, DType::f32)},
                    [](HostStepCall& call) {
                      std::ranges::transform(call.input<float>(0), call.output<float>(0).begin(),
                                             [](float v) { return v / (1 + v * v); });
                    })[0];
      x = add(s, matmul(s, x, w), x);
    }
    s.output("y", x);
    FinishResult result = finish(s, recorded);
    runs.push_back(result.read<std::byte>("y"));
    if (recorded) {
      result.graph.launch();
      runs.push_back(result.graph.read<std::byte>("y"));
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[0], runs[2]);
}

TEST_P(HostSteps, RunInsideOfAsynchronousLaunches) {
  int calls = 0;
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor y = host_step(s, "sort", {x}, {spec_}, [&](HostStepCall& call) {
    ++calls;
    sort_values(call);
  })[0];
  s.output("y", add(s, y, x));
  CapturedGraph graph = s.finish({.run = false, .joined_host_steps = GetParam().joined}).graph;
  Ticket first = graph.launch_async();
  EXPECT_EQ(calls, 1);
  graph.set_input("x", Values{9, 8, 7, 6});
  Ticket second = graph.launch_async();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(first.read("y"), (Values{5, 3, 6, 6}));
  EXPECT_EQ(second.read("y"), (Values{15, 15, 15, 15}));
}

TEST_P(HostSteps, FindTheirGraphInUse) {
  CapturedGraph graph;
  bool in_use = false;
  auto s = executor_.begin_recorded();
  host_step(s, "look", {}, {}, [&](HostStepCall&) { in_use = graph.in_use(); });
  graph = s.finish({.run = false, .joined_host_steps = GetParam().joined}).graph;
  graph.launch();
  EXPECT_TRUE(in_use);
}

TEST_P(HostSteps, AreTimed) {
  for (const bool recorded : {false, true}) {
    auto s = begin(recorded);
    const Tensor x = s.input("x", {4}, x_);
    s.output("y", host_step(s, "sort", {x}, {spec_}, sort_values)[0]);
    FinishResult result = finish(s, recorded);
    EXPECT_GT(result.report.host_step_ns, 0U);
    EXPECT_GT(result.report.wait_ns, 0U);
  }
}

TEST_P(HostSteps, SendAndBringBackStateOnce) {
  for (const bool recorded : {false, true}) {
    SCOPED_TRACE(recorded);
    StateLayout layout;
    layout.carried("position");
    const StateBlock state(device_, layout);
    state.set("position", 5);
    auto s = begin(recorded, {.state = state});
    const Tensor x = s.input("x", {4}, x_);
    const Tensor y = host_step(s, "sort", {x}, {spec_}, sort_values)[0];
    advance(s, s.input("next", {1}, std::vector<std::int32_t>{3}),
            {.position = s.state("position")});
    s.output("y", add(s, y, x));
    FinishResult result = finish(s, recorded);
    EXPECT_EQ(state.get("position"), 6);
    if (recorded) {
      result.graph.launch();
      EXPECT_EQ(state.get("position"), 7);
      state.set("position", 1);
      result.graph.launch();
      EXPECT_EQ(state.get("position"), 2);
    }
  }
}

TEST_P(HostSteps, MayReadInputsThatAreDeclaredAfterAnother) {
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor a = host_step(s, "sort", {x}, {spec_}, sort_values)[0];
  const Tensor late = s.input("late", {4}, Values{1, 1, 1, 1});
  const Tensor b = host_step(s, "sort", {add(s, a, late)}, {spec_}, sort_values)[0];
  s.output("y", add(s, b, late));
  EXPECT_EQ(s.finish().read("y"), (Values{3, 4, 5, 6}));
}

TEST_P(HostSteps, LetOtherThreadsWaitBehindThem) {
  std::atomic<bool> waiting = false;
  std::thread other;
  Values seen;
  auto s = executor_.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  const Tensor y = host_step(s, "sort", {x}, {spec_}, [&](HostStepCall& call) {
    other = std::thread([&] {  // behind every segment in the joined form, between them otherwise
      auto t = executor_.begin();
      const Tensor z = t.input("z", {4}, x_);
      t.output("y", add(t, z, z));
      const Ticket ticket = t.submit();
      waiting = true;
      seen = ticket.read("y");
    });
    while (!waiting) {
      std::this_thread::yield();
    }
    sort_values(call);
  })[0];
  s.output("y", add(s, y, x));
  const FinishResult result = finish(s);
  other.join();
  EXPECT_EQ(result.read("y"), (Values{5, 3, 6, 6}));
  EXPECT_EQ(seen, (Values{8, 2, 6, 4}));
}

TEST_P(HostSteps, ThatAreSlowLetNoWaitOfOthersTimeOut) {
  using Clock = std::chrono::steady_clock;
  // So long that no wait for the steps themselves misses it on a busy machine. A CPU has no limit.
  const std::chrono::milliseconds hang{GetParam().device == "vulkan" ? 2000 : 20};
  OpenOptions options;
  options.hang_timeout = hang;
  const Device device = open_device(GetParam().device, options);
  GraphExecutor executor(device);
  std::thread other;
  std::atomic<bool> waiting = false;
  Values seen;
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {4}, x_);
  s.output("y", host_step(s, "slow", {x}, {spec_}, [&](HostStepCall& call) {
             other = std::thread([&] {
               auto t = executor.begin();
               t.output("z", t.input("z", {4}, x_));
               const Ticket ticket = t.submit();
               waiting = true;
               seen = ticket.read("z");
             });
             while (!waiting) {
               std::this_thread::yield();
             }
             for (const auto end = Clock::now() + hang + hang / 2; Clock::now() < end;) {
               std::this_thread::yield();
             }
             sort_values(call);
           })[0]);
  const FinishResult result = finish(s);
  other.join();
  EXPECT_EQ(result.read("y"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(seen, x_);
}

TEST_P(HostSteps, AreNodesOfTheProfilingDatabase) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder / "host_steps.db";
  {
    GraphExecutor executor(device_, {.profile = path});
    auto s = executor.begin_recorded();
    const Tensor x = s.input("x", {4}, x_);
    const auto scope = s.scope("layer", 1);
    s.output("y", host_step(s, "sort", {x}, {spec_}, sort_values)[0]);
    (void)finish(s);
  }
  EXPECT_EQ(test::sql(path, "SELECT op, label, scope FROM nodes"), "host_step|sort|layer.1");
  EXPECT_EQ(test::sql(path, "SELECT kind FROM steps"), "host");
  EXPECT_EQ(test::sql(path, "SELECT submits FROM sessions"), "2");
}

TEST_P(HostSteps, MayRunOtherSessionsBetweenTheSegments) {
  for (const bool recorded : {false, true}) {
    if (recorded && GetParam().joined) {
      continue;  // they would wait behind the function that waits for them
    }
    auto s = begin(recorded);
    const Tensor x = s.input("x", {4}, x_);
    const Tensor y = host_step(s, "double", {x}, {spec_}, [&](HostStepCall& call) {
      auto other = executor_.begin();
      const Tensor in = other.input("x", {4}, call.input<float>(0));
      other.output("y", add(other, in, in));
      std::ranges::copy(other.finish().read("y"), call.output<float>(0).begin());
    })[0];
    s.output("y", add(s, y, x));
    EXPECT_EQ(finish(s, recorded).read("y"), (Values{12, 3, 9, 6}));
  }
}

}  // namespace
}  // namespace reprise::testing
