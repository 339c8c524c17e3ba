// Graphs whose persistent buffers are replaced between launches and while some are in flight.
#include <algorithm>
#include <malloc.h>
#include <stdexcept>
#include <sys/mman.h>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Rebinding : public ::testing::TestWithParam<std::string> {
 protected:
  Tensor rows(float value, const char* name) {
    return device_.from_host({2, 2}, std::vector<float>(4, value), name);
  }
  /// y = cache + weights, and cache[0] = row afterwards.
  CapturedGraph writer(const FinishOptions& options = {}) {
    auto s = executor_.begin_recorded({.name = "writer"});
    s.output("y", add(s, cache_, weights_));
    set_rows(s, cache_, s.input("row", {1, 2}, row_), SetRowsAttributes{.position = 0});
    s.output("cache", cache_);
    return s.finish(options).graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> row_{7, 8};
  Tensor cache_ = rows(1, "cache"), weights_ = rows(10, "weights");
};
INSTANTIATE_TEST_SUITE_P(On, Rebinding, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Rebinding, ReplacesABufferInEveryStepAndOutput) {
  CapturedGraph graph = writer({.run = false});
  const Tensor other = rows(2, "other");
  graph.rebind(cache_, other);
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>(4, 12)));
  EXPECT_EQ(graph.read("cache"), (std::vector<float>{7, 8, 2, 2}));
  EXPECT_EQ(device_.to_host<float>(other), (std::vector<float>{7, 8, 2, 2}));
  EXPECT_EQ(device_.to_host<float>(cache_), (std::vector<float>(4, 1))) << "it is not used";
  graph.rebind(other, cache_);
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>(4, 11)));
}

TEST_P(Rebinding, WorksInEveryTimingMode) {
  CapturedGraph graph = writer();
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    SCOPED_TRACE(name_of(mode));
    graph.set_timing(mode);
    graph.launch();
    const Tensor other = rows(3, "other");
    graph.rebind(cache_, other);
    graph.launch();
    EXPECT_EQ(graph.read("y"), (std::vector<float>(4, 13)));
    cache_ = other;
  }
}

TEST_P(Rebinding, WorksForLaunchesOfManyIterations) {
  constexpr std::int32_t kTokens = 16, kRows = 32;
  const auto one = [](std::int32_t row, std::int32_t column) {
    return static_cast<std::size_t>(row * kTokens + column);
  };
  std::vector<float> following(kTokens * kTokens);
  for (std::int32_t t = 0; t < kTokens; ++t) {
    following[one(t, (t + 1) % kTokens)] = 1;
  }
  const StateBlock state(device_, StateLayout().carried("pos", 0).carried("token", 0));
  const auto fresh = [&] { return device_.zeros({kRows, kTokens}, DType::f32, "table"); };
  Tensor table = fresh();
  auto s = executor_.begin_recorded({.name = "loop", .state = state, .max_iterations = 3});
  const Tensor row =
      get_rows(s, s.input("following", {kTokens, kTokens}, following), s.state("token"));
  const Tensor next = argmax(s, row);
  set_rows(s, table, row, {.position = s.state("pos")});
  advance(s, next, {.position = s.state("pos"), .token = s.state("token")});
  s.output("next", next);
  CapturedGraph graph = s.finish({.run = false}).graph;
  std::int32_t pos = 0;
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    for (int launches = 0; launches < 2; ++launches) {
      SCOPED_TRACE(name_of(mode));
      graph.set_timing(mode);
      graph.launch({.iterations = 3});
      std::vector<float> expected(kRows * kTokens);
      for (const std::int32_t end = pos + 3; pos < end; ++pos) {
        expected[one(pos, (pos + 1) % kTokens)] = 1;
      }
      EXPECT_EQ(device_.to_host<float>(table), expected);
      const Tensor empty = fresh();
      graph.rebind(table, empty);
      table = empty;
    }
  }
}

TEST_P(Rebinding, KeepsTheOldBufferOfLaunchesInFlight) {
  CapturedGraph graph = writer({.slots = 3, .run = false});
  std::vector<Ticket> tickets;
  std::vector<Tensor> caches;
  for (float i = 0; i < 3; ++i) {
    caches.push_back(rows(i, "sequence"));
    graph.rebind(cache_, caches.back());
    cache_ = caches.back();
    tickets.push_back(graph.launch_async());
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const auto value = static_cast<float>(i);
    EXPECT_EQ(tickets[i].read("y"), (std::vector<float>(4, 10 + value)));
    EXPECT_EQ(tickets[i].read("cache"), (std::vector<float>{7, 8, value, value}));
    EXPECT_EQ(device_.to_host<float>(caches[i]), (std::vector<float>{7, 8, value, value}));
  }
}

TEST_P(Rebinding, LetsTheOldBufferGo) {
  CapturedGraph graph = writer();
  const std::weak_ptr<Buffer> old = TensorRef(cache_)->buffer;
  const Tensor other = rows(2, "other");
  graph.rebind(cache_, other);
  cache_ = Tensor();
  graph.launch();
  EXPECT_TRUE(old.expired());
}

TEST_P(Rebinding, RepairsAStaleGraph) {
  CapturedGraph graph = writer();
  device_.free(cache_);
  ASSERT_TRUE(graph.stale().has_value());
  const Tensor successor = rows(4, "successor");
  graph.rebind(cache_, successor);
  EXPECT_EQ(graph.stale(), std::nullopt);
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>(4, 14)));
  device_.free(successor);
  expect_error(ErrorCode::stale, {"'writer'", "(successor)"}, [&] { graph.launch(); });
}

TEST_P(Rebinding, RepairsAGraphWhoseBuffersWereAllFreed) {
  CapturedGraph graph = writer();
  device_.free(cache_);
  device_.free(weights_);
  graph.rebind(cache_, rows(2, "cache 2"));
  expect_error(ErrorCode::stale, {"weights"}, [&] { graph.launch(); });
  graph.rebind(weights_, rows(20, "weights 2"));
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>(4, 22)));
}

TEST_P(Rebinding, GivesTheBitsOfAGraphRecordedWithTheBuffer) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto random = [&](const char* name) {
    return device_.from_host({64, 96}, DType::f16, random_bytes(rng, DType::f16, 64 * 96, -1, 1),
                             name);
  };
  const Tensor first = random("first"), second = random("second");
  const std::vector<std::byte> x = random_bytes(rng, DType::f32, 5 * 96, -1, 1);
  const auto record = [&](const Tensor& w) {
    auto s = executor_.begin_recorded();
    s.output("y", matmul(s, s.input("x", {5, 96}, DType::f32, x), w));
    return s.finish().graph;
  };
  CapturedGraph rebound = record(first), fresh = record(second);
  rebound.rebind(first, second);
  rebound.launch();
  fresh.launch();
  EXPECT_EQ(rebound.read<std::byte>("y"), fresh.read<std::byte>("y"));
}

TEST_P(Rebinding, MistakesAreNamedAndChangeNothing) {
  const StateBlock state(device_, StateLayout().carried("n", 0));
  auto s = executor_.begin_recorded({.name = "reader", .state = state});
  const Tensor table = get_rows(s, cache_, s.state("n"));
  const Tensor block = s.state_block();
  s.output("y", add(s, table, table));
  CapturedGraph graph = s.finish().graph;
  const Tensor other = rows(2, "other");
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& parts, const Tensor& from,
                          const Tensor& to) {
    expect_error(code, parts, [&] { graph.rebind(from, to); });
  };
  constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
  refuse(kInvalid, {"empty"}, Tensor(), other);
  refuse(kInvalid, {"empty"}, cache_, Tensor());
  refuse(kInvalid, {"'reader'", "(other)", "cache"}, other, cache_);
  refuse(kInvalid, {"f32 [2, 2]", "f32 [4]"}, cache_, device_.zeros({4}, DType::f32, "flat"));
  refuse(kInvalid, {"(16)", "(32)"}, cache_,
         Tensor::over(TensorRef(device_.zeros({8}, DType::f32, "long"))->buffer,
                      TensorSpec({2, 2}, DType::f32)));
  refuse(kInvalid, {"state"}, block, device_.zeros(block.shape(), DType::i32, "block"));
  device_.free(other);
  refuse(ErrorCode::stale, {"(other)"}, cache_, other);
  OpenOptions options;
  options.validation = GetParam() == "vulkan";
  const Device foreign = open_device(GetParam(), options);
  refuse(kInvalid, {"another device"}, cache_, foreign.zeros({2, 2}, DType::f32, "foreign"));
  EXPECT_EQ(graph.stale(), std::nullopt);
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>{2, 2}));

  CapturedGraph both = writer();
  expect_error(kInvalid, {"'writer'", "(weights)", "already"},
               [&] { both.rebind(cache_, weights_); });
  both.rebind(cache_, cache_);
  both.launch();
  EXPECT_EQ(both.read("y"), (std::vector<float>{17, 18, 11, 11}));
}

TEST_P(Rebinding, ImportedMemoryIsNotWritten) {
  constexpr std::size_t kPage = 4096;
  void* pages = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::shared_ptr<const void> owner(
      pages, [](const void* p) { munmap(const_cast<void*>(p), kPage); });
  const auto buffer = device_.import("pages", {static_cast<const std::byte*>(pages), 16}, owner);
  if (buffer == nullptr) {
    GTEST_SKIP() << "This device has memory of its own.";
  }
  const Tensor imported = Tensor::over(buffer, TensorSpec({2, 2}, DType::f32));
  CapturedGraph graph = writer();
  expect_error(ErrorCode::invalid_argument, {"(pages)", "not written"},
               [&] { graph.rebind(cache_, imported); });
  graph.rebind(weights_, imported);
  graph.launch();
  EXPECT_EQ(graph.read("y"), (std::vector<float>{7, 8, 1, 1}));
}

TEST_P(Rebinding, IsAnotherRecordingOfTheSameGraphInTheDatabase) {
  const test::TempFolder folder;
  const auto path = folder / "rebinding.db";
  {
    executor_ = GraphExecutor(device_, {.profile = path});
    CapturedGraph graph = writer();
    const Tensor other = rows(2, "other");
    graph.rebind(cache_, other);
    graph.launch();
    graph.launch();
    executor_ = GraphExecutor(device_);
  }
  EXPECT_EQ(test::sql(path, "SELECT count(*) FROM graphs"), "1");
  EXPECT_EQ(test::sql(path, "SELECT count(*), count(DISTINCT session_id) FROM recordings"), "2|1");
  EXPECT_EQ(test::sql(path,
                      "SELECT b.name, count(*) FROM replays r JOIN recording_pools p ON "
                      "p.recording_id=r.recording_id JOIN buffers b ON b.id=p.buffer_id WHERE "
                      "b.name IN ('cache', 'other') GROUP BY 1 ORDER BY 1"),
            "cache|1\nother|2");
}

/// Overwrites freed memory while it lives, so that a test meets what it should not read any more.
class OverwrittenFrees {
 public:
  OverwrittenFrees() { mallopt(M_PERTURB, 0x5A); }
  OverwrittenFrees(const OverwrittenFrees&) = delete;
  OverwrittenFrees& operator=(const OverwrittenFrees&) = delete;
  ~OverwrittenFrees() { mallopt(M_PERTURB, 0); }
};

TEST_P(Rebinding, LeavesHostStepsWithTheirNamesAndPlaces) {
  const OverwrittenFrees overwritten;
  auto s = executor_.begin_recorded({.name = "stepped"});
  bool fails = false;
  {
    const auto layer = s.scope("layer");
    const Tensor y = host_step(s, "doubled", {add(s, cache_, weights_)}, {cache_.spec()},
                               [&](HostStepCall& call) {
                                 if (fails) {
                                   throw std::runtime_error("The step fails.");
                                 }
                                 EXPECT_EQ(call.name(), "doubled");
                                 const auto from = call.input<float>(0);
                                 std::ranges::transform(from, call.output<float>(0).begin(),
                                                        [](float v) { return 2 * v; });
                               })[0];
    s.output("y", y);
  }
  CapturedGraph graph = s.finish({.run = false}).graph;
  const Tensor other = rows(2, "other");
  graph.rebind(cache_, other);
  graph.launch();
  EXPECT_EQ(graph.read("y"), std::vector<float>(4, 24));
  fails = true;
  expect_error(ErrorCode::invalid_argument,
               {"The step fails.", "in the host step 'doubled'", "op 1 host_step", "layer"},
               [&] { graph.launch(); });
}

/// Work in flight for as long as the gate is closed.
TEST(RebindingInFlight, TheOldBufferIsReadAfterTheGraphHasANewOne) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  const Tensor first = device.from_host({2}, std::vector<float>{1, 2}, "first");
  const Tensor second = device.from_host({2}, std::vector<float>{3, 4}, "second");
  auto s = executor.begin_recorded({.name = "gated"});
  s.output("y", pass_gate(s, first));
  CapturedGraph graph = s.finish().graph;
  const std::shared_ptr<Buffer> buffer = TensorRef(first)->buffer;
  Gate gate;
  const Ticket old = graph.launch_async();
  gate.wait_until_reached();
  graph.rebind(first, second);
  const Ticket fresh = graph.launch_async();
  device.free(first);
  EXPECT_NE(buffer->mapped(), nullptr) << "in flight";
  EXPECT_FALSE(old.done());
  gate.open();
  EXPECT_EQ(old.read("y"), (std::vector<float>{1, 2}));
  EXPECT_EQ(fresh.read("y"), (std::vector<float>{3, 4}));
  EXPECT_EQ(buffer->mapped(), nullptr);
}

}  // namespace
}  // namespace reprise::testing
