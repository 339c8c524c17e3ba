// What a writer says about itself, and the records that are about a whole run: clocks, host scopes,
// events, drops.
#include <sqlite3.h>

#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::send_recording;
using test::send_run;
using test::sql;
using test::TempFolder;
using test::test_device;

class ProfileHealthOf : public ::testing::Test {
 protected:
  std::string query(const std::string& text) const { return sql(path_, text); }
  std::shared_ptr<const ExecutionPlan> graph() const { return GraphMaker({}).make(); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(ProfileHealthOf, FlushCommitsEverythingSentBefore) {
  const auto sink = open_profile(path_, {});
  sink->device(test_device());
  for (int i = 1; i <= 20; ++i) {
    send_run(*sink, graph(), 9);
    sink->send(HostScopeRecord{sink->next_id(), 0, "token", "sample", "main", 5, 6});
    sink->flush();
    EXPECT_EQ(query("SELECT count(*) FROM replays; SELECT count(*) FROM scopes"),
              std::to_string(10 * i) + "\n" + std::to_string(i));
    EXPECT_EQ(sink->health().replays_committed, 10U * static_cast<unsigned>(i));
  }
  EXPECT_FALSE(sink->health().stopped);
}

TEST_F(ProfileHealthOf, RowsSayHowTheWriterDoes) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test_device());
    send_run(*sink, graph(), 600);
    sink->flush();
    sink->send(TimestampBiasRecord{40});
    sink->flush();
  }
  EXPECT_EQ(query("SELECT max(batch_replays), max(commit_ns)>0, max(wal_bytes)>8192, "
                  "max(queue_high_bytes)>=max(queue_bytes), min(cpu_ns)>0 FROM writer_health"),
            "256|1|1|1|1");
  EXPECT_EQ(query("SELECT timestamp_bias_ns FROM writer_health ORDER BY id LIMIT 2"), "NULL\n40");
}

TEST_F(ProfileHealthOf, ClocksScopesAndEventsAreStoredAsSent) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test_device());
    sink->send(ClockRecord{100, 200, ~std::uint64_t{0}, 7});
    const std::uint64_t recording = send_recording(*sink, graph());
    const std::uint64_t outer = sink->next_id();
    const std::uint64_t inner = sink->next_id();
    sink->send(HostScopeRecord{inner, outer, "wait", "ticket", "worker", 20, 5});
    sink->send(HostScopeRecord{outer, 0, "token \x1b[2J", "", "", 10, 30});
    sink->send(
        EventRecord{LogLevel::warning, "session", "stale", "It is stale.", 1, recording, 77});
  }
  EXPECT_EQ(query("SELECT run_id, device_id, t_host_ns, realtime_ns, device_ticks, "
                  "max_deviation_ns FROM clock_sync"),
            "1|1|100|200|-1|7");  // ticks are 64 bits without a sign
  EXPECT_EQ(query("SELECT s.name, s.category, s.thread, s.t_start_ns, s.dur_ns, p.name FROM scopes "
                  "s LEFT JOIN scopes p ON p.id=s.parent_id ORDER BY s.t_start_ns"),
            "token \x1b[2J|NULL|NULL|10|30|NULL\nwait|ticket|worker|20|5|token \x1b[2J");
  EXPECT_EQ(query("SELECT t_ns, severity, source, code, message, session_id, graph_id FROM events"),
            "77|2|session|stale|It is stale.|1|1");
  EXPECT_EQ(query("SELECT level FROM v_errors"), "warning");
}

TEST_F(ProfileHealthOf, EventsOfARecordingThatComesLaterGetItsGraphAndTheirNode) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test_device());
    EventRecord event;
    event.recording = 3;  // the one that is sent has this id
    event.node = 1;
    sink->send(event);
    event.node.reset();
    sink->send(event);
    event.recording = 99;
    event.node = 1;
    sink->send(event);
    sink->flush();
    EXPECT_EQ(query("SELECT graph_id, node_idx FROM events"), "NULL|NULL\nNULL|NULL\nNULL|NULL");
    EXPECT_EQ(send_recording(*sink, graph()), 3U);
  }
  EXPECT_EQ(query("SELECT graph_id, node_idx FROM events"), "1|1\n1|NULL\nNULL|NULL");
}

TEST_F(ProfileHealthOf, BenchmarksAreStoredWithTheRunAndTheDevice) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test_device());
    BenchmarkRecord record{.test = "pp128",
                           .model_type = "llama 15M q8_0",
                           .precision = "fast",
                           .test_time = "2026-11-21T10:00:00Z",
                           .n_prompt = 128,
                           .n_depth = 7,
                           .n_batch = 64,
                           .n_threads = 2,
                           .model_size_bytes = 1000,
                           .model_n_params = 900,
                           .samples_ns = {10, 30},
                           .avg_ns = 20,
                           .stddev_ns = 14.2,
                           .avg_ts = 2.5,
                           .stddev_ts = 0.5,
                           .median_ts = 2.25};
    sink->send(record);
    record.peer = "llama.cpp";
    record.precision.clear();
    sink->send(record);
  }
  const std::string numbers =
      "|llama 15M q8_0|128|0|7|64|2|1000|900|2|20|14|2.5|0.5|2.25|[10,30]|2026-11-21T10:00:00Z";
  EXPECT_EQ(query("SELECT run_id, backend, device_id, precision, peer, test, model_type, n_prompt, "
                  "n_gen, n_depth, n_batch, n_threads, model_size_bytes, model_n_params, reps, "
                  "avg_ns, stddev_ns, avg_ts, stddev_ts, median_ts, samples_ns_json, test_time "
                  "FROM benchmarks ORDER BY id"),
            "1|vulkan|1|fast|NULL|pp128" + numbers + "\n1|vulkan|1|NULL|llama.cpp|pp128" + numbers);
}

TEST_F(ProfileHealthOf, ReplaysKeepTheirSlotIterationStatusAndDeviceTime) {
  {
    const auto sink = open_profile(path_, {});
    for (const std::uint32_t bits : {64U, 0U}) {  // 0: it cannot time itself
      DeviceInfo device = test_device(std::to_string(bits));
      device.timestamp_valid_bits = bits;
      sink->device(device);
      ReplayRecord record;
      record.recording = send_recording(*sink, graph());
      record.iteration = 3;
      record.slot = 2;
      record.status = ReplayStatus::failed;
      record.device_start_ns = 1234;
      record.device_ns = 0;
      record.timing_mode = TimingMode::node_serialised;
      sink->replay(record);
    }
  }
  EXPECT_EQ(query("SELECT iteration, slot, status, device_start_ns, device_ns, timing_mode FROM "
                  "replays ORDER BY id"),
            "3|2|2|1234|0|3\n3|2|2|NULL|NULL|3");
}

TEST_F(ProfileHealthOf, EveryReplaySentIsInTheFileOrCountedAsDropped) {
  constexpr std::uint64_t kReplays = 20'000;
  std::uint64_t dropped = 0;
  {
    ProfileLimits limits;
    limits.ring_bytes = 50'000;
    const auto sink = open_profile(path_, {}, {}, limits);
    sink->device(test_device());
    const std::vector<std::uint64_t> ticks{10, 20, 30, 40};
    ReplayRecord record;
    record.recording = send_recording(*sink, graph());
    record.step_ticks = ticks;
    for (std::uint64_t r = 0; r < kReplays; ++r) {
      sink->replay(record);
    }
    sink->flush();
    const ProfileHealth health = sink->health();
    dropped = health.replays_dropped;
    EXPECT_GT(dropped, 0U);  // a transaction takes longer than the ring lasts
    EXPECT_GE(health.timings_dropped, dropped);
    EXPECT_EQ(health.replays_committed + dropped, kReplays);
    EXPECT_EQ(query("SELECT sum(count) FROM drops WHERE what='step_timings'"),
              std::to_string(health.timings_dropped));
  }
  EXPECT_EQ(query("SELECT count(*) FROM replays"), std::to_string(kReplays - dropped));
  EXPECT_EQ(query("SELECT reason, sum(count) FROM drops WHERE what='replay'"),
            "ring full|" + std::to_string(dropped));
  EXPECT_EQ(query("SELECT code, count(*) FROM events GROUP BY 1"), "drops_begin|1");
}

TEST_F(ProfileHealthOf, AReaderThatHoldsUpTheLogIsReported) {
  const auto sink = open_profile(path_, {});
  sink->device(test_device());
  ReplayRecord record;
  record.recording = send_recording(*sink, graph());
  sink->flush();
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &reader, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM replays", nullptr, nullptr, nullptr);
  const std::vector<std::uint32_t> state(100'000);
  record.state = state;
  for (int r = 0; r < 100; ++r) {  // 40 MB
    sink->replay(record);
    if (r % 10 == 0) {
      sink->flush();
    }
  }
  sink->flush();
  EXPECT_EQ(query("SELECT severity, source, code FROM events"), "2|profile|wal_large");
  sqlite3_close(reader);
  for (int r = 0; r < 20; ++r) {  // the log begins again
    sink->replay(record);
    sink->flush();
  }
  EXPECT_LT(std::stoll(query("SELECT wal_bytes FROM writer_health ORDER BY id DESC LIMIT 1")),
            16'000'000);
  EXPECT_EQ(query("SELECT count(*) FROM replays"), "120");
}

TEST_F(ProfileHealthOf, AWriterThatStoppedStillAnswersAndCounts) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test_device());
    sink->flush();
    query("DROP TABLE step_timings; DROP TABLE replays");
    send_run(*sink, graph(), 9);
    sink->flush();
    EXPECT_TRUE(sink->health().stopped);
    EXPECT_EQ(sink->health().replays_dropped, 10U);
    sink->send(HostScopeRecord{sink->next_id(), 0, "late", "", "", 5, 6});
    sink->flush();
    EXPECT_EQ(sink->health().replays_committed, 0U);
    EXPECT_GE(sink->health().records_dropped, 1U);
  }
  EXPECT_EQ(query("SELECT what, reason, count FROM drops WHERE what='replay'"),
            "replay|writer stopped|10");
  EXPECT_EQ(query("SELECT code, message LIKE '%no such table%' FROM events"), "writer_stopped|1");
  EXPECT_EQ(query("SELECT exit_state FROM runs"), "profiling stopped");
}

}  // namespace
}  // namespace reprise
