// What `reprise db export --perfetto` makes of runs whose every number is known.
#include <random>
#include <sstream>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/perfetto.h"
#include "debugger/cli/trace_rows.h"
#include "framework/profile/profile_rewrite.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_cli/trace_check.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using nlohmann::json;
using test::write_run;

std::string export_of(const std::string& path, const cli::TraceChoice& choice = {}) {
  std::ostringstream out;
  cli::write_perfetto(path, choice, out);
  return out.str();
}

/// An event in a line: phase, track, name, times, what it is about.
std::string line_of(const json& event) {
  std::ostringstream line;
  line << event["ph"].get<std::string>() << ' ' << event["pid"] << '.' << event["tid"] << ' '
       << event["name"].get<std::string>();
  for (const char* key : {"ts", "dur", "id"}) {
    line << (event.contains(key) ? " " + event[key].dump() : "");
  }
  line << (event.contains("args") ? " " + event["args"].dump() : "") << '\n';
  return line.str();
}

class TraceTest : public test::TimedDatabase {
 protected:
  json trace(const cli::TraceChoice& choice = {}) const {
    return json::parse(export_of(path(), choice));
  }
  /// The lines of those events that have this in them.
  std::string lines(const std::string& with, const cli::TraceChoice& choice = {}) const {
    std::string text;
    const json found = trace(choice);
    for (const json& event : found["traceEvents"]) {
      const std::string line = line_of(event);
      text += line.find(with) == std::string::npos ? "" : line;
    }
    return text;
  }
  std::vector<std::string> problems(const cli::TraceChoice& choice = {}) const {
    return test::trace_problems(trace(choice), test::nodes_to_trace(path_, choice.run));
  }
  static constexpr auto kNone = std::vector<std::string>();
};

TEST_F(TraceTest, ARunHoldsEveryReplayAndEveryNode) {
  write_run(path_, {.replays = 40, .graph = {.scales = 30}});
  EXPECT_EQ(problems(), kNone);
}

TEST_F(TraceTest, RandomTimesNestToo) {
  const std::uint64_t seed = testing::test_seed();
  std::mt19937_64 random(seed);
  const auto graph = test::GraphMaker({.scales = 5}).make();
  {
    const auto sink = open_profile(path_, test::run_info("test", "random"));
    sink->device(test::nanosecond_device());
    const std::uint64_t recording = test::send_recording(*sink, graph);
    for (std::uint64_t r = 0; r < 300; ++r) {
      test::TimedReplay replay(recording, r, test::random_durations(random, graph->steps.size()));
      replay.record.submit_time_ns = static_cast<std::int64_t>(random() % 1'000'000);
      replay.record.prepare_ns = random() % 1000;
      replay.record.submit_ns = random() % 1000;
      replay.record.wait_ns = random() % 100'000;
      sink->replay(replay.record);
      sink->send(HostScopeRecord{.id = sink->next_id(),
                                 .name = "scope",
                                 .category = "user",
                                 .thread = std::to_string(random() % 3),
                                 .start_ns = static_cast<std::int64_t>(random() % 1'000'000),
                                 .duration_ns = random() % 10'000});
    }
  }
  EXPECT_EQ(problems(), kNone) << testing::seed_note(seed);
}

TEST_F(TraceTest, MessagesOfMoreThan64MebibytesAreAllRead) {
  write_run(path_);
  ASSERT_EQ(test::sql(path_,
                      "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r LIMIT 1200) "
                      "INSERT INTO events(run_id,t_ns,severity,source,message) SELECT 1, i, 1, "
                      "'long', printf('%.*c', 60000, 'x') FROM r"),
            "");
  const cli::TraceRows rows(path(), {});
  int found = 0;
  rows.each_instant(rows.runs().at(0),
                    [&](const cli::TraceInstant& instant) { found += instant.name == "long"; });
  EXPECT_EQ(found, 1200);
}

TEST_F(TraceTest, ReplaysWithoutStepTimesAreOneSlice) {
  write_run(path_, {.replays = 2, .mode = TimingMode::off});
  EXPECT_EQ(
      lines("\"sequence\":1"),
      "X 2.3 decode 1 2001.45 15.0 {\"begin\":\"assumed: when submitting "
      "ended\",\"device_ns\":15000,\"graph\":1,\"iteration\":0,\"recording\":3,\"replay\":2,"
      "\"sequence\":1,\"status\":0,\"submission\":1,\"timing_mode\":\"off\",\"warm_up\":0}\n");
  EXPECT_EQ(problems(), kNone);
}

TEST_F(TraceTest, AReplayIsDrawnWithItsScopesNodesAndMemory) {
  write_run(path_, {.graph = {.scope = "a\"b\x1B", .scales = 0}});
  EXPECT_EQ(
      lines("", {.replay = 3}),
      "M 1.0 process_name {\"name\":\"rank 0: host of first\"}\n"
      "M 2.0 process_name {\"name\":\"rank 0: Test GPU\"}\n"
      "M 1.1 thread_name {\"name\":\"launches\"}\n"
      "X 1.1 prepare 0.0 0.5 {\"replay\":3}\n"
      "X 1.1 submit 0.5 1.5 {\"replay\":3}\n"
      "M 2.2 thread_name {\"name\":\"queue\"}\n"
      "X 2.2 decode 2 2.0 6.0 {\"begin\":\"assumed: when submitting "
      "ended\",\"device_ns\":6000,\"graph\":1,\"iteration\":0,\"recording\":3,\"replay\":3,"
      "\"sequence\":2,\"status\":0,\"submission\":2,\"timing_mode\":\"node\",\"warm_up\":0}\n"
      "X 2.2 a\"b\x1B.3 2.0 3.0 {}\n"
      "X 2.2 a\"b\x1B.3/attn 2.0 1.0 {}\n"
      "X 2.2 norm 2.0 1.0 "
      "{\"duration_ns\":1000,\"gb_per_s\":1.92,\"gflops_per_s\":0.007,\"label\":\"attn\","
      "\"node\":0,\"scope\":\"a\\\"b\\u001b.3/attn\",\"source\":\"model.cpp:10\",\"tensors\":"
      "{\"state\":\"i32 [3]\",\"weight\":\"f32 [96]\",\"x\":\"f32 [2,96]\",\"y\":\"f32 "
      "[2,96]\"}}\n"
      "X 2.2 add 3.0 2.0 "
      "{\"duration_ns\":2000,\"gb_per_s\":1.152,\"gflops_per_s\":0.0035,\"label\":"
      "\"a\\\"b\\u001b.3\",\"node\":1,\"scope\":\"a\\\"b\\u001b.3\",\"source\":\"model.cpp:"
      "11\",\"tensors\":{\"a\":\"f32 [2,96]\",\"b\":\"f32 [2,96]\",\"y\":\"f32 [2,96]\"}}\n"
      "X 2.2 norm 5.0 3.0 "
      "{\"duration_ns\":3000,\"gb_per_s\":0.64,\"gflops_per_s\":0.002333,\"label\":\"\",\"node\":"
      "2,\"scope\":\"\",\"source\":\"model.cpp:12\",\"tensors\":{\"state\":\"i32 "
      "[3]\",\"weight\":\"f32 [96]\",\"x\":\"f32 [2,96]\",\"y\":\"f32 [2,96]\"}}\n"
      "C 2.0 arena in use (bytes) 2.0 {\"value\":1536.0}\n"
      "C 2.0 arena in use (bytes) 3.0 {\"value\":2304.0}\n"
      "C 2.0 arena in use (bytes) 5.0 {\"value\":2304.0}\n"
      "s 1.1 launch 1.25 3\n"
      "f 2.2 launch 2.0 3\n"
      "M 1.3 thread_name {\"name\":\"waits\"}\n"
      "X 1.3 wait 2.0 20.0 {\"replay\":3}\n");
}

TEST_F(TraceTest, WorkOfTheDeviceIsWhereItsClockSaysItWas) {
  const auto graph = test::GraphMaker({}).make();
  {
    const auto sink = open_profile(path_, test::run_info("test", "clock"));
    sink->device(test::nanosecond_device());
    sink->send(ClockRecord{.host_ns = 1'000'000, .realtime_ns = 5, .device_ticks = 70'000});
    const std::uint64_t recording = test::send_recording(*sink, graph);
    test::TimedReplay replay(recording, 0, {100, 200, 300});
    replay.record.submit_time_ns = 1'500'000;
    replay.record.submit_ns = 1'000;
    replay.record.wait_ns = 4'000;
    replay.record.device_start_ns = 70'000 + 505'000;
    sink->replay(replay.record);
  }
  // The trace begins with the recording, at 50 ns of the host.
  EXPECT_EQ(lines("norm").substr(0, 24), "X 2.3 norm 1504.95 0.1 {");
}

TEST_F(TraceTest, WorkIsNotBeforeItsSubmit) {
  const auto graph = test::GraphMaker({}).make();
  {
    const auto sink = open_profile(path_, test::run_info("test", "clock"));
    sink->device(test::nanosecond_device());
    sink->send(ClockRecord{.host_ns = 1'000'000, .realtime_ns = 5, .device_ticks = 70'000});
    const std::uint64_t recording = test::send_recording(*sink, graph);
    test::TimedReplay replay(recording, 0, {100, 200, 300});
    replay.record.submit_time_ns = 1'500'050;
    replay.record.submit_ns = 1'000;
    replay.record.device_start_ns = 70'000 + 499'000;
    sink->replay(replay.record);
  }
  EXPECT_EQ(lines("s 1").substr(0, 20), "s 1.2 launch 1500.0 ");
  EXPECT_EQ(problems(), kNone);
}

TEST_F(TraceTest, ThreadsEventsAndSamplesHaveTracks) {
  {
    const auto sink = open_profile(path_, test::run_info("server", ""));
    sink->device(test::nanosecond_device());
    test::send_recording(*sink, test::GraphMaker({.name = "g"}).make());
    for (const char* thread : {"7", "8"}) {
      sink->send(HostScopeRecord{.id = sink->next_id(),
                                 .name = "outer",
                                 .category = "user",
                                 .thread = thread,
                                 .start_ns = 1'000,
                                 .duration_ns = 500});
      sink->send(HostScopeRecord{.id = sink->next_id(),
                                 .name = "inner",
                                 .thread = thread,
                                 .start_ns = 1'000,
                                 .duration_ns = 100});
    }
    sink->send(EventRecord{.severity = LogLevel::warning,
                           .source = "device",
                           .code = "slow",
                           .message = "It is \"slow\".",
                           .time_ns = 2'000});
  }
  test::sql(
      path_,
      "INSERT INTO memory_samples(run_id,device_id,t_ns,purpose,used_bytes,peak_bytes,buffers) "
      "VALUES(1,1,3000,'arenas',4096,4096,1); INSERT INTO counters(name,unit) "
      "VALUES('tokens','1'); INSERT INTO counter_values(counter_id,run_id,t_ns,value)"
      " VALUES(1,1,2500,1.5)");
  EXPECT_EQ(lines(""),
            "M 1.0 process_name {\"name\":\"rank 0: host of server\"}\n"
            "M 2.0 process_name {\"name\":\"rank 0: Test GPU\"}\n"
            "M 1.1 thread_name {\"name\":\"thread 7\"}\n"
            "X 1.1 outer 0.95 0.5 {\"category\":\"user\"}\n"
            "M 1.2 thread_name {\"name\":\"thread 8\"}\n"
            "X 1.2 outer 0.95 0.5 {\"category\":\"user\"}\n"
            "X 1.1 inner 0.95 0.1 {\"category\":\"\"}\n"
            "X 1.2 inner 0.95 0.1 {\"category\":\"\"}\n"
            "M 1.3 thread_name {\"name\":\"events\"}\n"
            "i 1.3 recorded g 0.0 {}\n"
            "i 1.3 device: slow 1.95 {\"level\":\"warning\",\"message\":\"It is \\\"slow\\\".\"}\n"
            "C 1.0 tokens (1) 2.45 {\"value\":1.5}\n"
            "C 1.0 memory: arenas (bytes) 2.95 {\"value\":4096.0}\n");
}

TEST_F(TraceTest, TheLatestRunIsTakenUnlessAnotherIsNamed) {
  write_run(path_, {.label = "first"});
  write_run(path_, {.label = "second"});
  test::sql(path_, "UPDATE runs SET t_start_ns=id*1000, t_end_ns=id*1000+500");
  EXPECT_EQ(trace()["otherData"]["title"], "run 2");
  EXPECT_EQ(trace({.run = 1})["otherData"]["title"], "run 1");
  EXPECT_EQ(problems({.run = 1}), kNone);
}

TEST_F(TraceTest, RanksThatRanTogetherAreTogetherInATrace) {
  const auto other = folder_ / "other.db";
  write_run(path_, {.label = "a"});
  write_run(other, {.label = "b"});
  test::sql(path_, "UPDATE runs SET world_size=2, t_start_ns=1000, t_end_ns=2000");
  test::sql(other, "UPDATE runs SET rank=1, world_size=2, t_start_ns=1500, t_end_ns=2500");
  const std::filesystem::path files[] = {other, path_};
  const auto merged = folder_ / "merged.db";
  merge_profiles(files, merged);
  std::string names;
  const json trace = json::parse(export_of(merged.string()));
  for (const json& event : trace["traceEvents"]) {
    names += event["name"] == "process_name" ? event["args"]["name"].get<std::string>() + "\n" : "";
  }
  EXPECT_EQ(names, "rank 0: host of a\nrank 0: Test GPU\nrank 1: host of b\nrank 1: Test GPU\n");
}

TEST_F(TraceTest, PagesMeet) {
  constexpr std::uint64_t kReplays = 5'000;  // more than a page of rows
  write_run(path_, {.replays = kReplays, .mode = TimingMode::off});
  const auto expected = test::nodes_to_trace(path_);
  EXPECT_EQ(expected.size(), kReplays);
  EXPECT_EQ(test::trace_problems(trace(), expected), kNone);
}

TEST_F(TraceTest, NumbersOfADamagedFileDoNotEndIt) {
  write_run(path_);
  for (const char* value :
       {"9223372036854775807", "-9223372036854775807-1", "1e300", "'abc'", "x'00'", "-1"}) {
    const std::string v = value;
    test::sql(path_, "UPDATE replays SET t_submit_ns=" + v + ", submit_ns=" + v + ", wait_ns=" + v +
                         ", prepare_ns=" + v + ", device_start_ns=" + v + ", device_ns=" + v +
                         ", status=" + v + ", timing_mode=" + v);
    test::sql(path_, "UPDATE scopes SET t_start_ns=" + v + ", dur_ns=" + v);
    test::sql(path_, "UPDATE recordings SET t_ns=" + v);
    EXPECT_FALSE(json::parse(export_of(path()))["traceEvents"].empty()) << v;
  }
}

}  // namespace
}  // namespace reprise
