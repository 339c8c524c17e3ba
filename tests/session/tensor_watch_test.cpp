// Watched launches: what tensors hold in the middle of a replay, which computes the same as ever.
#include <limits>

#include "framework/session/replay/watched_launches.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/random_ops.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::TempFolder;

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4U];
    text += kDigits[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

std::string hex_of(const std::vector<float>& values) {
  return hex_of(std::as_bytes(std::span(values)));
}

class TensorWatches : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::int64_t kSize = 24;
  static constexpr std::size_t kOps = 24;

  void open(std::vector<TensorWatch> watches, bool without_replay = false) {
    executor_.reset();
    device_ = without_replay ? test_device_without_replay(GetParam()) : test_device(GetParam());
    executor_ = std::make_unique<GraphExecutor>(
        device_, ExecutorOptions{.profile = path_,
                                 .log = [this](LogLevel, std::string_view text) { log_ += text; },
                                 .watches = std::move(watches)});
    weight_ = device_.from_host({kSize, kSize}, DType::f32, weights_, "w");
  }
  /// In the scopes layer.0 to layer.3.
  std::vector<Tensor> record(GraphSession& s) const {
    const Tensor x = s.input("x", {kSize, kSize}, DType::f32, x_);
    return record_random_ops(s, seed_, add(s, x, weight_), weight_, kOps,
                             [&](const Tensor& a) { return rms_norm(s, a, {}, {.eps = 1e-5F}); });
  }
  CapturedGraph graph(const FinishOptions& finish = {.run = false}) {
    auto s = executor_->begin_recorded({.name = "random"});
    s.output("last", record(s).back());
    return s.finish(finish).graph;
  }
  /// What a direct session computes, by node.
  std::vector<Bytes> directly(Bytes x) {
    const Bytes before = std::exchange(x_, std::move(x));
    auto s = executor_->begin();
    const std::vector<Tensor> all = record(s);
    for (std::size_t i = 0; i < all.size(); ++i) {
      s.output(std::to_string(i), all[i]);
    }
    const FinishResult result = s.finish();
    std::vector<Bytes> values;
    for (std::size_t i = 0; i < all.size(); ++i) {
      values.push_back(result.read<std::byte>(std::to_string(i)));
    }
    x_ = before;
    return values;
  }
  Bytes any_input() { return random_bytes(rng_, DType::f32, kSize * kSize, -1, 1); }
  std::string query(const std::string& text) const { return test::sql(path_, text); }

  const ExpectNoValidationMessages quiet_;
  const std::uint64_t seed_ = test_seed();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  Bytes x_ = any_input();
  Bytes weights_ = random_bytes(rng_, DType::f32, kSize* kSize, -0.2, 0.2);
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "watched.db";
  std::string log_;
  Device device_ = test_device(GetParam());
  std::unique_ptr<GraphExecutor> executor_;
  Tensor weight_;
};
INSTANTIATE_TEST_SUITE_P(On, TensorWatches, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST(TensorTaps, ComeAfterTheLastStepOfTheirNode) {
  const auto recorded = test::GraphMaker({.scales = 1}).make();  // its third node has two steps
  const TapList list = find_taps(*recorded, {}, kMaxWatchedBytes);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const Tap& tap : list.taps) {
    places.emplace_back(tap.node, tap.after_step);
  }
  EXPECT_EQ(places,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {1, 1}, {2, 3}, {3, 4}}));
}

TEST(TensorTaps, LeaveOutWhatFindsNoRoom) {
  const auto recorded = test::GraphMaker({}).make();  // results of 768 bytes
  const TapList list = find_taps(*recorded, {}, 1600);
  EXPECT_EQ(list.taps.size(), 2U);
  EXPECT_EQ(list.left_out, 1U);
  EXPECT_EQ(list.bytes, 1536U);
}

TEST_P(TensorWatches, KeepWhatADirectSessionComputes) {
  for (const bool without_replay : {false, true}) {
    open({{.contents = true}}, without_replay);
    CapturedGraph watched = graph();
    watched.launch();
    const std::vector<Bytes> expected = directly(x_);
    EXPECT_EQ(watched.read<std::byte>("last"), expected.back());
    executor_->shutdown();
    std::string rows;
    for (std::size_t n = 0; n < expected.size(); ++n) {
      rows += (n == 0 ? "" : "\n") + std::to_string(n) + "|" + hex_of(expected[n]);
    }
    EXPECT_EQ(query("SELECT s.node_idx, hex(data) FROM snapshots s JOIN replays r ON "
                    "r.id=s.replay_id JOIN recordings c ON c.id=r.recording_id WHERE "
                    "c.run_id=(SELECT max(id) FROM runs) ORDER BY s.node_idx"),
              rows);
  }
}

TEST_P(TensorWatches, LeaveOutWhatPassesFusedAway) {
  open({{.contents = true}});
  CapturedGraph watched = graph({.passes = PassOptions::exact(), .run = false});
  watched.launch();
  const std::vector<Bytes> expected = directly(x_);
  executor_->shutdown();
  const std::size_t kept =
      static_cast<std::size_t>(std::stoul(query("SELECT count(*) FROM snapshots")));
  EXPECT_GT(kept, 0U);
  std::size_t equal = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    equal += query("SELECT hex(data) FROM snapshots WHERE node_idx=" + std::to_string(n)) ==
             hex_of(expected[n]);
  }
  EXPECT_EQ(equal, kept);
}

TEST_P(TensorWatches, ChangeNoBitOfWhatIsComputed) {
  open({{.every = 2}});
  CapturedGraph watched = graph();
  for (int i = 0; i < 6; ++i) {
    const Bytes x = any_input();
    watched.set_input("x", DType::f32, x);
    watched.launch();
    EXPECT_EQ(watched.read<std::byte>("last"), directly(x).back()) << "launch " << i;
  }
}

TEST_P(TensorWatches, ComeEverySoManyLaunchesAndTakeNoTimes) {
  open({{.every = 3}});
  executor_->set_timing(TimingMode::node);
  CapturedGraph watched = graph();
  for (int i = 0; i < 8; ++i) {
    watched.launch();
  }
  executor_->shutdown();
  EXPECT_EQ(query("SELECT seq, timing_mode, EXISTS(SELECT 1 FROM tensor_stats WHERE replay_id=id), "
                  "EXISTS(SELECT 1 FROM step_timings WHERE replay_id=id) FROM replays WHERE seq "
                  "IN (0, 3, 6) OR EXISTS(SELECT 1 FROM tensor_stats WHERE replay_id=id) ORDER BY "
                  "seq"),
            "0|0|1|0\n3|0|1|0\n6|0|1|0");
  EXPECT_EQ(query("SELECT count(*) FROM step_timings"), "5");
}

TEST_P(TensorWatches, TakeTheFirstLaunchInsideFinishToo) {
  open({{.every = 100}});
  const CapturedGraph watched = graph({});
  executor_->shutdown();
  EXPECT_EQ(query("SELECT DISTINCT seq FROM tensor_stats JOIN replays ON id=replay_id"), "0");
}

TEST_P(TensorWatches, MatchNamesByPattern) {
  open({{.tensors = "layer.2/*"}});
  CapturedGraph watched = graph();
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(
      query("SELECT group_concat(node_idx, ',') FROM (SELECT node_idx FROM tensor_stats ORDER "
            "BY 1)"),
      "12,13,14,15,16,17");
}

TEST_P(TensorWatches, MayChangeBetweenLaunchesAndEnd) {
  open({});
  CapturedGraph watched = graph();
  watched.launch();
  executor_->set_watches({{.tensors = "layer.1/*"}, {.tensors = "layer.2/*"}});
  watched.launch();  // each its own launch
  watched.launch();
  executor_->set_watches({});
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT seq, min(node_idx), max(node_idx), count(*) FROM tensor_stats JOIN "
                  "replays ON id=replay_id GROUP BY 1 ORDER BY 1"),
            "1|6|11|6\n2|12|17|6");
}

TEST_P(TensorWatches, SkipLaunchesWhileOneIsInFlight) {
  open({{.every = 1, .contents = true}});
  CapturedGraph watched = graph({.slots = 4, .run = false});
  std::vector<Bytes> inputs;
  std::vector<Ticket> tickets;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(any_input());
    watched.set_input("x", DType::f32, inputs.back());
    tickets.push_back(watched.launch_async());
  }
  std::vector<std::vector<Bytes>> expected;
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    expected.push_back(directly(inputs[i]));
    EXPECT_EQ(tickets[i].read<std::byte>("last"), expected[i].back());
  }
  tickets.clear();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT min(seq) FROM snapshots JOIN replays r ON r.id=replay_id"), "0");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string of =
        "FROM snapshots JOIN replays r ON r.id=replay_id WHERE seq=" + std::to_string(i) +
        " AND node_idx=";
    for (std::size_t n = 0; n < kOps; ++n) {
      const std::string kept = query("SELECT hex(data) " + of + std::to_string(n));
      EXPECT_TRUE(kept.empty() || kept == hex_of(expected[i][n]))
          << "launch " << i << " node " << n;
    }
  }
}

TEST_P(TensorWatches, NameTheNodeWhoseResultIsNotANumber) {
  open({{.not_finite = true}});
  auto s = executor_->begin_recorded({.name = "norms"});
  Tensor x = s.input("x", {2, 8}, std::vector<float>(16, 1));
  x = add(s, x, x);
  {
    auto layer = s.scope("layer", 4);
    x = mul(s, x, device_.from_host({2, 8}, std::vector<float>(16, 1e30F), "large"));
  }
  x = mul(s, x, x);  // 4e60 is no f32
  s.output("y", mul(s, x, x));
  CapturedGraph watched = s.finish({.run = false}).graph;
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT severity, source, code, node_idx FROM events"),
            "2|numerics|not_finite|2");
  EXPECT_NE(log_.find("op 2 mul"), std::string::npos) << log_;
  EXPECT_NE(log_.find("(16) infinite values of 16"), std::string::npos) << log_;
}

TEST_P(TensorWatches, NameTheNodesThatAreGivenRowNumbersOutsideOfTheirTable) {
  open({{.tensors = "", .rows_outside = true}});
  const Tensor table = device_.from_host({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}, "table");
  const Tensor cache = device_.zeros({5, 2}, DType::f32, "cache");
  auto s = executor_->begin_recorded({.name = "rows"});
  const Tensor ids = s.input("ids", {4}, std::vector<std::int32_t>{0, 1, 2, 0});
  const Tensor rows = get_rows(s, table, ids);
  set_rows(s, cache, rows, ids);
  s.output("rows", rows);
  CapturedGraph watched = s.finish({.run = false}).graph;
  watched.launch();
  watched.set_input("ids", std::vector<std::int32_t>{0, 4, -1, 3});
  watched.launch();
  watched.set_input("ids", std::vector<std::int32_t>{5, 0, 0, 0});
  watched.launch();
  const auto kept = watched.read("rows");
  EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[1]) && kept[2] == 1) << "row 5 of 3";
  executor_->shutdown();
  EXPECT_EQ(query("SELECT severity, source, code, node_idx, replay_id FROM events"),
            "2|numerics|rows_outside|0|2\n2|numerics|rows_outside|1|2\n"
            "2|numerics|rows_outside|0|3\n2|numerics|rows_outside|1|3");
  EXPECT_NE(log_.find("(3) row numbers outside of 0 to 2, the first (4) in place 1"),
            std::string::npos)
      << log_;
  EXPECT_NE(log_.find("(1) row numbers outside of 0 to 4, the first (-1) in place 2"),
            std::string::npos)
      << log_;
  EXPECT_EQ(query("SELECT count(*) FROM tensor_stats"), "0");
}

TEST_P(TensorWatches, HaveTheRowsThatALaunchWithAnExtentHad) {
  open({{.contents = true}});
  StateBlock state(device_, StateLayout().host("rows", 2));
  auto s = executor_->begin_recorded({.state = state, .extents = {{"rows", 5}}});
  const Tensor x = s.input("x", {s.extent("rows"), 4}, std::vector<float>(20, 3));
  s.output("y", add(s, x, x));
  CapturedGraph watched = s.finish({.run = false}).graph;
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT shape_json, hex(data) FROM snapshots"),
            "[2,4]|" + hex_of(std::vector<float>(8, 6)));
}

TEST_P(TensorWatches, AreOfTheLastIterationIfAllRan) {
  open({{.contents = true}});
  constexpr std::int32_t kEnd = 3;
  std::vector<float> table(8 * 4);
  for (std::size_t row = 0; row < 8; ++row) {
    table[row * 4] = static_cast<float>(row + 1);
    table[row * 4 + kEnd] = row < 4 ? 0 : 100;  // the iteration at row 4 is the last one
  }
  const StateBlock state(
      device_,
      StateLayout().carried("pos", 0).carried("token", 0).carried("done", 0).stop_when("done"));
  auto s = executor_->begin_recorded({.state = state, .max_iterations = 4});
  const Tensor row = get_rows(s, device_.from_host({8, 4}, table, "table"), s.state("pos"));
  s.output("y", add(s, row, row));
  advance(s, argmax(s, row),
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .end_token = kEnd});
  CapturedGraph watched = s.finish({.run = false}).graph;
  watched.launch({.iterations = 3});
  watched.launch({.iterations = 4});  // of which two run
  EXPECT_EQ(watched.iterations(), 2U);
  executor_->shutdown();
  EXPECT_EQ(query("SELECT seq, iteration, hex(data) FROM snapshots s JOIN replays r ON "
                  "r.id=replay_id JOIN nodes n ON n.graph_id=s.graph_id AND n.idx=node_idx WHERE "
                  "op='add'"),
            "0|2|" + hex_of(std::vector<float>{6, 0, 0, 0}));
}

TEST_P(TensorWatches, WithoutMemoryForThemTheGraphIsInTheWarning) {
  device_ = fresh_test_device(GetParam());
  executor_ = std::make_unique<GraphExecutor>(device_, ExecutorOptions{.profile = path_});
  auto s = executor_->begin_recorded({.name = "large"});
  const Tensor x = s.input("x", {kSize, kSize}, DType::f32, x_);
  s.output("y", add(s, x, x));
  CapturedGraph watched = s.finish().graph;
  device_.set_memory_budget(1);
  executor_->set_watches({{}});
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT severity, source, code, name FROM events JOIN graphs ON graphs.id = "
                  "graph_id"),
            "2|watch|watch_failed|large");
}

TEST_P(TensorWatches, CountResultsThatAreAllTooLargeInAWarning) {
  const auto columns = static_cast<std::int64_t>(kMaxWatchedBytes / sizeof(float));
  const auto recorded = test::GraphMaker({.columns = columns}).make();
  {
    ExecutorCore core(device_,
                      {.profile = path_, .profile_limits = {.queue_bytes = 2 * kMaxWatchedBytes}});
    core.set_watches({{}, {.tensors = "logits"}});
    WatchedLaunches launches;
    const auto encode = [](const TapStaging&) { return Body(); };
    EXPECT_EQ(launches.take(0, core, recorded, 0, encode), nullptr);
    EXPECT_EQ(launches.take(1, core, recorded, 0, encode), nullptr);
  }
  EXPECT_EQ(query("SELECT code, message FROM events"),
            "watch_too_large|(4) watched results of the graph 'decode' are left out: all of them "
            "would be more than (" +
                std::to_string(kMaxWatchedBytes) + ") bytes of one launch.");
}

TEST_P(TensorWatches, CountResultsThatTheQueueOfTheDatabaseDoesNotTake) {
  constexpr std::uint64_t kQueueBytes = std::uint64_t{1} << 20U;
  executor_ = std::make_unique<GraphExecutor>(
      device_,
      ExecutorOptions{
          .profile = path_, .profile_limits = {.queue_bytes = kQueueBytes}, .watches = {{}}});
  auto s = executor_->begin_recorded({.name = "large"});
  const Tensor large = s.input("large", {512, 512}, std::vector<float>(std::size_t{512} * 512));
  const Tensor small = s.input("small", {4}, std::vector<float>(4));
  s.output("sum", add(s, large, large));
  s.output("small sum", add(s, small, small));
  CapturedGraph watched = s.finish({.run = false}).graph;
  watched.launch();
  executor_->shutdown();
  EXPECT_EQ(query("SELECT code, message FROM events WHERE source = 'watch'"),
            "watch_too_large|(1) watched results of the graph 'large' are left out: all of them "
            "would be more than (655360) bytes of one launch.");
  EXPECT_EQ(query("SELECT n FROM tensor_stats"), "4");
}

TEST_P(TensorWatches, AreRefusedWhereNothingWouldComeOfThem) {
  open({});
  expect_error(ErrorCode::invalid_argument, {"''", "every (1)"},
               [&] { executor_->set_watches({{.tensors = ""}}); });
  expect_error(ErrorCode::invalid_argument, {"every (0)"},
               [&] { executor_->set_watches({{.every = 0}}); });
  expect_error(ErrorCode::invalid_argument, {"profiling database"},
               [&] { GraphExecutor(device_, {.watches = {{}}}); });
}

}  // namespace
}  // namespace reprise::testing
