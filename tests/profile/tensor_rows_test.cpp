// What a writer makes of the values of tensors, of comparisons, memory and the program's numbers.
#include <cmath>
#include <fstream>
#include <limits>

#include "framework/profile/tensor_file.h"
#include "framework/profile/tensor_statistics.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::test_device;

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

class TensorRows : public ::testing::Test {
 protected:
  std::string query(const std::string& text) const { return sql(path_, text); }

  void open(const ProfileLimits& limits = {}) {
    sink_ = open_profile(
        path_, {}, [this](LogLevel, std::string_view text) { log_ += text; }, limits);
    sink_->device(test_device());
    recording_ = send_recording(*sink_, recorded_);
  }
  /// Of h, the result of node 0, and s, of node 1; both as long as `h`.
  TensorsRecord record(std::uint64_t sequence, const std::vector<float>& h,
                       const std::vector<float>& s) const {
    const TensorSpec spec({static_cast<std::int64_t>(h.size())}, DType::f32);
    TensorsRecord r;
    r.recording = recording_;
    r.sequence = sequence;
    r.plan = recorded_;
    r.tensors = {{3, 0, spec, 0}, {4, 1, spec, h.size() * sizeof(float)}};
    r.bytes = bytes_of(h);
    const std::vector<std::byte> more = bytes_of(s);
    r.bytes.insert(r.bytes.end(), more.begin(), more.end());
    r.time_ns = 7;
    return r;
  }
  void send_replay(std::uint64_t sequence, ReplayStatus status = ReplayStatus::ran) const {
    ReplayRecord replay;
    replay.recording = recording_;
    replay.sequence = sequence;
    replay.status = status;
    sink_->replay(replay);
  }

  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  const std::shared_ptr<const ExecutionPlan> recorded_ = GraphMaker({}).make();
  std::shared_ptr<ProfileSink> sink_;
  std::uint64_t recording_ = 0;
  std::string log_;
};

TEST_F(TensorRows, HoldTheStatisticsOfFiniteValues) {
  open();
  sink_->tensors(record(0, {-3, 1, 0, 0, testing::kNan, testing::kInfinity, -testing::kInfinity, 2},
                        {testing::kNan, testing::kNan}));
  send_replay(0);
  sink_.reset();
  EXPECT_EQ(query("SELECT tensor_idx, node_idx, n, min, max, mean, rms*rms, nan_count, inf_count, "
                  "zero_count FROM tensor_stats WHERE tensor_idx=3"),
            "3|0|8|-3.0|2.0|0.0|2.8|1|2|2");
  EXPECT_EQ(query("SELECT seq FROM tensor_stats JOIN replays ON id=replay_id LIMIT 1"), "0");
}

TEST_F(TensorRows, HoldNothingButCountsWhereNoValueIsFinite) {
  open();
  sink_->tensors(record(0, {testing::kNan, testing::kInfinity}, {0, 0}));
  send_replay(0);
  sink_.reset();
  EXPECT_EQ(query("SELECT min, max, mean, rms, hist, n, nan_count, inf_count, zero_count FROM "
                  "tensor_stats WHERE tensor_idx=3"),
            "NULL|NULL|NULL|NULL|NULL|2|1|1|0");
}

TEST(TensorStatistics, PutEveryFiniteValueIntoItsRange) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<float> any(-5, 9);
  std::vector<float> values{-5, 9, testing::kNan, testing::kInfinity};
  while (values.size() < 3000) {
    values.push_back(any(rng));
  }
  std::array<std::uint32_t, profile::kValueRanges> expected{};
  for (const float value : values) {
    if (std::isfinite(value)) {
      const double range = std::floor((static_cast<double>(value) + 5) / 14 * 64);
      ++expected[static_cast<std::size_t>(std::min(range, 63.0))];
    }
  }
  const auto statistics = profile::statistics_of(DType::f32, bytes_of(values));
  ASSERT_TRUE(statistics.finite);
  EXPECT_EQ(statistics.finite->histogram, expected);
}

TEST(TensorStatistics, ReadEveryDTypeThatHasNumbers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i32, DType::q4_1, DType::q6_k}) {
    const auto bytes = testing::random_bytes(rng, dtype, 1536, -100, 100);
    const std::vector<double> values = testing::to_doubles(dtype, bytes);
    const auto statistics = profile::statistics_of(dtype, bytes);
    ASSERT_TRUE(statistics.finite) << name_of(dtype);
    EXPECT_EQ(statistics.count, values.size());
    EXPECT_EQ(statistics.finite->min, *std::ranges::min_element(values));
    EXPECT_EQ(statistics.finite->max, *std::ranges::max_element(values));
  }
}

TEST_F(TensorRows, KeepSmallContentsInTheFileAndLargeOnesBesideIt) {
  open();
  std::vector<float> large(20'000, 1.5F);
  large.back() = -2;
  TensorsRecord small = record(0, {1, 2}, {3, 4});
  small.contents = true;
  sink_->tensors(small);
  send_replay(0);
  for (const std::uint64_t sequence : {1U, 2U}) {  // the same contents twice: one file
    TensorsRecord r = record(sequence, large, large);
    r.contents = true;
    sink_->tensors(r);
    send_replay(sequence);
  }
  sink_.reset();
  EXPECT_EQ(query("SELECT tensor_idx, node_idx, t_ns, dtype, shape_json, nbytes, hex(data), "
                  "external_path FROM snapshots WHERE data IS NOT NULL ORDER BY tensor_idx"),
            "3|0|7|f32|[2]|8|0000803F00000040|NULL\n4|1|7|f32|[2]|8|0000404000008040|NULL");
  const std::string place =
      query("SELECT DISTINCT external_path FROM snapshots WHERE data IS NULL");
  EXPECT_EQ(place, query("SELECT DISTINCT 'profile.db.tensors/'||content_hash||'.safetensors' FROM "
                         "snapshots WHERE data IS NULL"));
  EXPECT_EQ(query("SELECT count(*) FROM snapshots WHERE data IS NULL"), "4");
  EXPECT_EQ(profile::read_tensor_file(folder_ / place), bytes_of(large));
  EXPECT_EQ(folder_.files(), 2U);
}

TEST_F(TensorRows, StayInTheFolderInWhichARelativePathWasOpened) {
  const TempFolder other;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / ".");
  sink_ = open_profile("profile.db", {});
  std::filesystem::current_path(other / ".");
  sink_->device(test_device());
  recording_ = send_recording(*sink_, recorded_);
  TensorsRecord large = record(0, std::vector<float>(20'000, 1.5F), std::vector<float>(20'000));
  large.contents = true;
  sink_->tensors(large);
  send_replay(0);
  sink_.reset();
  std::filesystem::current_path(before);
  EXPECT_TRUE(other.empty());
  EXPECT_TRUE(std::filesystem::exists(folder_ / query("SELECT max(external_path) FROM snapshots")));
}

TEST_F(TensorRows, KeepContentsWithinTheirBudgetAndCountTheRest) {
  open({.snapshot_bytes = 20});
  for (const std::uint64_t sequence : {0U, 1U}) {
    TensorsRecord r = record(sequence, {1, 2}, {3, 4});
    r.contents = true;
    sink_->tensors(r);
    send_replay(sequence);
  }
  sink_->flush();
  EXPECT_EQ(sink_->health().records_dropped, 2U);
  sink_.reset();
  EXPECT_EQ(query("SELECT sum(nbytes) FROM snapshots; SELECT count(*) FROM tensor_stats; SELECT "
                  "what, reason, sum(count) FROM drops GROUP BY 1, 2"),
            "16\n4\nsnapshot|budget|2");
}

TEST_F(TensorRows, GoOnWithoutContentsThatCannotBeWrittenBesideTheFile) {
  std::ofstream(path_.string() + ".tensors") << "a file where the folder should be";
  open();
  TensorsRecord r = record(0, std::vector<float>(20'000, 1), std::vector<float>(20'000, 2));
  r.contents = true;
  sink_->tensors(r);
  send_replay(0);
  sink_.reset();
  EXPECT_EQ(query("SELECT count(*) FROM snapshots; SELECT count(*) FROM tensor_stats; SELECT what, "
                  "reason, sum(count) FROM drops GROUP BY 1, 2; SELECT exit_state FROM runs"),
            "0\n2\nsnapshot|file not written|2\ndone");
}

TEST_F(TensorRows, NameTheFirstResultThatIsNotFinite) {
  open();
  TensorsRecord r = record(0, {1, 2, 3}, {1, testing::kNan, testing::kInfinity});
  r.not_finite = true;
  sink_->tensors(r);
  send_replay(0);
  TensorsRecord quiet = record(1, {testing::kNan, 2, 3}, {1, 2, 3});
  sink_->tensors(quiet);
  send_replay(1);
  sink_.reset();
  const std::string message =
      "Replay (0) of the graph 'decode': the result of op 1 add (layer.3), model.cpp:11 holds (1) "
      "NaN and (1) infinite values of 3, the first watched one that does.";
  EXPECT_EQ(query("SELECT severity, source, code, message, graph_id, node_idx, seq FROM events e "
                  "JOIN replays r ON r.id=e.replay_id"),
            "2|numerics|not_finite|" + message + "|1|1|0");
  EXPECT_EQ(query("SELECT count(*) FROM events"), "1");
  EXPECT_EQ(log_, message);
}

TEST_F(TensorRows, AreCountedAsLostWhereTheirReplayIsNot) {
  open();
  sink_->tensors(record(0, {1, 2}, {3, 4}));  // its replay never comes
  sink_->tensors(record(1, {1, 2}, {3, 4}));
  send_replay(1, ReplayStatus::failed);
  sink_->tensors(record(2, {1, 2}, {3, 4}));
  send_replay(2);
  sink_->tensors(record(3, {1, 2}, {3, 4}));  // and neither does this one's
  sink_.reset();
  EXPECT_EQ(query("SELECT count(*), min(seq), max(seq) FROM tensor_stats JOIN replays ON "
                  "id=replay_id; SELECT what, reason, sum(count) FROM drops GROUP BY 1, 2"),
            "2|2|2\ntensors|without replay|6");
}

TEST_F(TensorRows, AreDroppedWholeIfTheFileRefusesOne) {
  open();
  TensorsRecord r = record(0, {1, 2}, {3, 4});
  r.tensors[1].tensor = r.tensors[0].tensor;  // twice in one replay
  sink_->tensors(r);
  send_replay(0);
  sink_.reset();
  EXPECT_EQ(query("SELECT count(*) FROM tensor_stats; SELECT what, reason, count FROM drops; "
                  "SELECT count(*), (SELECT exit_state FROM runs) FROM replays"),
            "0\ntensors|refused|2\n1|done");
}

TEST_F(TensorRows, OfAComparisonHaveNoNumbersThatAreNotFinite) {
  open();
  sink_->send(ComparisonRecord{recording_, 1, 4, "layer.3/add", "Intel CPU", 0.5, 0.25, 0.125, 0.75,
                               17, true, 0.001, false, 9});
  const double infinite = std::numeric_limits<double>::infinity();
  sink_->send(ComparisonRecord{recording_,
                               {},
                               {},
                               "output 'y'",
                               "direct",
                               infinite,
                               infinite,
                               infinite,
                               std::nan(""),
                               {},
                               {},
                               0,
                               true,
                               10});
  sink_.reset();
  EXPECT_EQ(
      query("SELECT p.run_id, p.t_ns, p.graph_id, c.id, node_idx, tensor_idx, p.name, reference, "
            "max_abs, max_rel, rmse, cosine, first_bad_index, input_differs, tolerance, pass "
            "FROM comparisons p JOIN recordings c ON c.id=p.recording_id ORDER BY p.id"),
      "1|9|1|3|1|4|layer.3/add|Intel CPU|0.5|0.25|0.125|0.75|17|1|0.001|0\n"
      "1|10|1|3|NULL|NULL|output 'y'|direct|NULL|NULL|NULL|NULL|NULL|NULL|0.0|1");
}

TEST_F(TensorRows, OfMemoryAreOfHeapsAndOfPurposes) {
  open();
  MemoryRecord record;
  record.time_ns = 5;
  record.info.heaps.resize(2);
  record.info.heaps[0] = {.bytes = 1000, .used = {10, 20, 3}};
  record.info.heaps[1] = {.bytes = 500, .used = {1, 2, 1}, .driver_budget = 400, .driver_used = 7};
  record.info.by_purpose[1] = {8, 9, 2};
  sink_->send(record);
  sink_.reset();
  EXPECT_EQ(query("SELECT heap, purpose, used_bytes, peak_bytes, buffers, size_bytes, "
                  "driver_used_bytes, driver_budget_bytes FROM memory_samples WHERE heap IS NOT "
                  "NULL OR purpose='arenas' ORDER BY id"),
            "0|NULL|10|20|3|1000|NULL|NULL\n1|NULL|1|2|1|500|7|400\nNULL|arenas|8|9|2|NULL|NULL|"
            "NULL");
  EXPECT_EQ(query("SELECT count(*), min(t_ns), max(t_ns) FROM memory_samples"), "8|5|5");
}

TEST_F(TensorRows, OfCountersShareTheirName) {
  open();
  sink_->send(CounterRecord{"acceptance", "%", 71.5, 1});
  sink_->send(CounterRecord{"acceptance", "%", 64, 2});
  sink_->send(CounterRecord{"acceptance", "1", 3, 3});
  sink_.reset();
  EXPECT_EQ(query("SELECT name, unit, t_ns, value FROM counter_values v JOIN counters c ON "
                  "c.id=v.counter_id ORDER BY v.id"),
            "acceptance|%|1|71.5\nacceptance|%|2|64.0\nacceptance|1|3|3.0");
}

TEST(RunRows, HoldWhatTheProgramSaysOfItself) {
  const TempFolder folder;
  RunInfo run = test::run_info("app", "label", {"-p", "128"});
  run.environment = {{"LP_NUM_THREADS", "2"}};
  run.model_hash = "abc";
  run.rank = 1;
  run.world_size = 4;
  open_profile(folder / "p.db", run);
  EXPECT_EQ(sql(folder / "p.db",
                "SELECT app, label, argv_json, env_json, model_hash, rank, "
                "world_size FROM runs"),
            "app|label|[\"-p\",\"128\"]|{\"LP_NUM_THREADS\":\"2\"}|abc|1|4");
}

TEST(TensorFile, IsReadAsItWasWritten) {
  const TempFolder folder;
  const std::vector<std::byte> bytes = bytes_of({1, 2, 3, 4, 5, 6});
  profile::write_tensor_file(folder / "t", "layer.0/\"x\"\xFF", {{2, 3}, DType::f32}, bytes);
  EXPECT_EQ(profile::read_tensor_file(folder / "t"), bytes);
  std::ifstream file(folder / "t", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"dtype\":\"F32\""), std::string::npos);
  EXPECT_NE(text.find("\"shape\":[2,3]"), std::string::npos);
  EXPECT_EQ(static_cast<unsigned char>(text[0]) % 8, 0);
}

TEST(TensorFile, IsRefusedCutAtAnyByte) {
  const TempFolder folder;
  profile::write_tensor_file(folder / "t", "x", {{2}, DType::f32}, bytes_of({1, 2}));
  for (std::uint64_t size = std::filesystem::file_size(folder / "t"); size-- > 0;) {
    std::filesystem::resize_file(folder / "t", size);
    testing::expect_error(ErrorCode::io, {"tensor file", "/t"},
                          [&] { profile::read_tensor_file(folder / "t"); });
  }
}

}  // namespace
}  // namespace reprise
