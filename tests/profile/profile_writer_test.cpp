// The profiling database as SQL shows it after a writer closed it, and files that cannot be one.
#include <csignal>
#include <fstream>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

#include <gtest/gtest.h>

#include "framework/graph/edges.h"
#include "framework/profile/profile_reader.h"
#include "framework/profile/record_queue.h"
#include "reprise/core/error.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"

namespace reprise {
namespace {

using test::bytes_of;
using test::GraphMaker;
using test::GraphOptions;
using test::run_info;
using test::send_run;
using test::sql;
using test::TempFolder;
using test::test_device;

void write_run(const std::filesystem::path& path, const GraphOptions& options,
               const DeviceInfo& device = test_device(), std::uint32_t replays = 3) {
  const auto sink = open_profile(path, run_info("test", "run", {"a", "b\"c"}));
  sink->device(device);
  send_run(*sink, GraphMaker(options).make(), replays);
}

/// The message of the Error that opening throws.
std::string refusal(const std::filesystem::path& path) {
  try {
    open_profile(path, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "";
}

class Written : public ::testing::Test {
 protected:
  void SetUp() override { write_run(path_, options_); }
  std::string query(const std::string& text) const { return sql(path_, text); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  const GraphOptions options_{};
};

TEST_F(Written, IsOneCleanFile) {
  EXPECT_EQ(folder_.files(), 1U);
  EXPECT_EQ(query("PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA page_size; "
                  "PRAGMA journal_mode; PRAGMA application_id; PRAGMA user_version"),
            "ok\n8192\nwal\n1380995667\n3");
  EXPECT_EQ(query("SELECT count(*) FROM drops"), "0");
}

TEST_F(Written, NamesTheRunItsHostAndItsBuild) {
  EXPECT_EQ(query("SELECT label, app, replays, exit_state FROM v_runs"), "run|test|4|done");
  EXPECT_EQ(query("SELECT argv_json, heartbeat_ns>=t_start_ns, t_end_ns>=t_start_ns, "
                  "length(run_uuid), start_utc GLOB '20*-*-*T*:*:*Z' FROM runs"),
            "[\"a\",\"b\\\"c\"]|1|1|36|1");
  EXPECT_EQ(query("SELECT length(machine_id_hash), cores>0, ram_bytes>0, kernel<>'' FROM hosts"),
            "16|1|1|1");
  EXPECT_EQ(query("SELECT count(*) FROM builds"), "1");
  std::string machine_id;
  std::ifstream("/etc/machine-id") >> machine_id;
  if (!machine_id.empty()) {
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(bytes.find(machine_id), std::string::npos);
  }
}

TEST_F(Written, HasTheDeviceWithItsLimits) {
  EXPECT_EQ(query("SELECT backend, name, type, timestamp_period_ns, limits_json, features_json "
                  "FROM devices"),
            "vulkan|Test GPU|discrete|1.5|{\"maxComputeSharedMemorySize\":49152}|"
            "{\"shaderFloat16\":true}");
}

TEST_F(Written, HasNodesWithAttributesScopesAndSource) {
  EXPECT_EQ(query("SELECT idx, op, label, scope, attributes_json, src_file, src_line, src_func, "
                  "level, flops, read_bytes, write_bytes FROM nodes ORDER BY idx"),
            "0|norm|attn|layer.3/attn|"
            "{\"eps\":1e-06,\"centred\":true,\"position\":{\"state\":\"pos\"}}"
            "|model.cpp|10|forward|0|7|1152|768\n"
            "1|add|layer.3|layer.3|{}|model.cpp|11|forward|1|7|1536|768\n"
            "2|norm|NULL||{\"eps\":1e-06,\"centred\":false,\"position\":5}"
            "|model.cpp|12|forward|2|7|1152|768");
}

TEST_F(Written, HasStepsWithKernelsGridsAndPushConstants) {
  EXPECT_EQ(query("SELECT s.idx, s.node_idx, s.kind, k.name, grid_x, grid_y, grid_z, hex(push) "
                  "FROM steps s JOIN kernels k ON k.id=s.kernel_id ORDER BY s.idx"),
            "0|0|dispatch|norm|3|2|1|00000000CDAB0000\n"
            "1|1|dispatch|add|3|2|1|01000000CDAB0000\n"
            "2|2|dispatch|norm|3|2|1|02000000CDAB0000");
  EXPECT_EQ(query("SELECT name, length(spirv_hash), spec_json, local_x, push_bytes, "
                  "nullif(hex(spirv), ''), "
                  "pipeline_create_ns FROM kernels ORDER BY name"),
            "add|0|{\"0\":64,\"1\":2}|NULL|NULL|NULL|NULL\n"
            "norm|32|{\"0\":64,\"1\":2}|64|8|030223070100000002000000|99");
}

TEST_F(Written, NamesTensorsAndPlacesThem) {
  EXPECT_EQ(query("SELECT idx, name, dtype, shape_json, strides_json, nbytes, role FROM tensors "
                  "ORDER BY idx"),
            "0|x|f32|[2,96]|[96,1]|768|input\n"
            "1|attn_norm|f32|[96]|[1]|384|param\n"
            "2|state|i32|[3]|[1]|12|state\n"
            "3|layer.3/attn/norm|f32|[2,96]|[96,1]|768|activation\n"
            "4|layer.3/add|f32|[2,96]|[96,1]|768|activation\n"
            "5|logits|f32|[2,96]|[96,1]|768|output");
  const auto recorded = GraphMaker(options_).make();
  std::string expected;
  for (std::size_t s = 0; s < 6; ++s) {  // one storage per tensor, at its start
    const Place& place = recorded->places[s];
    expected += (s == 0 ? "" : "\n") + std::to_string(place.pool) + "|" +
                std::to_string(place.offset) + "|" + std::to_string(place.first_step) + "|" +
                std::to_string(std::min(place.last_step, 2U));
  }
  EXPECT_EQ(query("SELECT pool_idx, offset_bytes, first_use, last_use FROM tensors ORDER BY idx"),
            expected);
  EXPECT_EQ(query("SELECT name, end_bytes-offset_bytes FROM v_memory_plan ORDER BY name"),
            "layer.3/add|768\nlayer.3/attn/norm|768\nlogits|768\nx|768");
  EXPECT_EQ(query("SELECT node_idx, operand, tensor_idx, access FROM node_tensors WHERE node_idx=0 "
                  "ORDER BY slot"),
            "0|x|0|r\n0|weight|1|r\n0|y|3|w\n0|state|2|r");
  EXPECT_EQ(query("SELECT idx, kind, size_bytes FROM pools ORDER BY idx"),
            "0|arena|" + std::to_string(recorded->arena_bytes) + "\n1|buffer|384\n2|state|12");
}

TEST_F(Written, HasTheEdgesAndBarriersOfThePlan) {
  const auto recorded = GraphMaker(options_).make();
  std::string edges;
  for (const Edge& e : edges_of(*recorded->graph)) {
    edges += (edges.empty() ? "" : "\n") + std::to_string(e.src) + "|" + std::to_string(e.dst) +
             "|" + std::to_string(e.tensor) + "|" + std::string(name_of(e.kind));
  }
  EXPECT_EQ(query("SELECT src, dst, tensor_idx, kind FROM edges ORDER BY dst, src, tensor_idx"),
            edges);
  ASSERT_EQ(recorded->barriers.size(), 2U);
  EXPECT_EQ(query("SELECT before_step, required, emitted, kind, size_bytes, cause_op, cause_scope, "
                  "waiting_op, waiting_scope, reason FROM v_barriers ORDER BY ordinal"),
            "1|1|1|RAW|768|norm|layer.3/attn|add|layer.3|"
            "norm (layer.3/attn) wrote what add (layer.3) reads\n"
            "2|1|1|RAW|768|add|layer.3|norm||add (layer.3) wrote what norm reads");
  EXPECT_EQ(query("SELECT name, node_count, step_count, edge_count, barrier_count, weights_bytes, "
                  "arena_bytes, naive_bytes, live_peak_bytes FROM graphs"),
            "decode|3|3|" + std::to_string(edges_of(*recorded->graph).size()) + "|2|384|" +
                std::to_string(recorded->arena_bytes) + "|" +
                std::to_string(recorded->naive_bytes) + "|" +
                std::to_string(recorded->live_peak_bytes));
}

TEST_F(Written, HasStateFieldsAndTheStateOfEveryReplay) {
  EXPECT_EQ(query("SELECT name, type, count, offset_bytes, owner, expression FROM state_fields "
                  "ORDER BY idx"),
            "token|i32|1|0|host|NULL\npos|i32|1|4|carried|NULL\nnext|i32|1|8|derived|pos + 1");
  EXPECT_EQ(query("SELECT seq, submission, phase, device_us, submit_us, timing_mode, warm_up "
                  "FROM v_replays ORDER BY id LIMIT 2"),
            "0|100|decode|1000.0|1000.0|replay|1\n1|101|decode|5.001|0.101|replay|0");
  EXPECT_EQ(query("SELECT hex(state) FROM replays WHERE seq=2"), "0200000004030201FFFFFFFF");
}

TEST_F(Written, LinksRecordingsWithSessionsAndBuffers) {
  EXPECT_EQ(query("SELECT s.name, s.mode, s.outcome, s.graph_id=c.graph_id, c.plan_ns FROM "
                  "recordings c JOIN sessions s ON s.id=c.session_id"),
            "decode|recorded|finished|1|2");
  EXPECT_EQ(query("SELECT p.pool_idx, b.name FROM recording_pools p LEFT JOIN buffers b ON "
                  "b.id=p.buffer_id ORDER BY 1"),
            "0|arena of decode\n1|NULL\n2|NULL");
}

TEST_F(Written, SharesOneGraphBetweenRuns) {
  write_run(path_, options_, test_device(), 1);
  EXPECT_EQ(query("SELECT (SELECT count(*) FROM graphs), (SELECT count(*) FROM kernels), (SELECT "
                  "count(*) FROM devices), (SELECT count(*) FROM hosts), (SELECT count(*) FROM "
                  "recordings), (SELECT count(*) FROM sessions), (SELECT count(*) FROM nodes)"),
            "1|2|1|1|2|2|3");
  EXPECT_EQ(query("SELECT run_id, count(*) FROM v_replays GROUP BY 1 ORDER BY 1"), "1|4\n2|2");
}

TEST_F(Written, KeepsTheStructureOfAGraphOnAnotherDeviceAndUnderAnotherName) {
  GraphOptions renamed;
  renamed.name = "other";
  renamed.input_name = "hidden";
  renamed.file = "elsewhere.cpp";
  GraphOptions wider;
  wider.columns = 97;
  write_run(path_, renamed);
  write_run(path_, options_, test_device("Another GPU"));
  write_run(path_, wider);
  EXPECT_EQ(
      query("SELECT count(DISTINCT content_hash), count(DISTINCT structure_hash) FROM graphs"),
      "4|2");
}

TEST(ProfileWriter, StoresHostileNamesVerbatim) {
  const std::vector<std::string> names{"it's \"quoted\"",         "'); DROP TABLE nodes; --",
                                       std::string("a\0b", 3),    std::string(100'000, 'n'),
                                       "\x1b]0;owned\x07\x1b[2J", "\xff\xfe not UTF-8"};
  for (const std::string& name : names) {
    const TempFolder folder;
    const auto path = folder / "profile.db";
    GraphOptions options;
    options.name = options.scope = options.input_name = name;
    {
      const auto sink = open_profile(path, run_info(name, name, {name}));
      sink->device(test_device(name));
      send_run(*sink, GraphMaker(options).make(), 1);
    }
    EXPECT_EQ(bytes_of(path, "SELECT name FROM graphs"), name);
    EXPECT_EQ(bytes_of(path, "SELECT name FROM tensors WHERE idx=0"), name);
    EXPECT_EQ(bytes_of(path, "SELECT scope FROM nodes WHERE idx=1"), name + ".3");
    EXPECT_EQ(bytes_of(path, "SELECT app FROM runs"), name);
    EXPECT_EQ(bytes_of(path, "SELECT name FROM devices"), name);
    EXPECT_EQ(bytes_of(path, "SELECT phase FROM replays LIMIT 1"), name);
    EXPECT_EQ(sql(path, "SELECT json_valid(argv_json) FROM runs; PRAGMA integrity_check"), "1\nok");
  }
}

TEST(ProfileWriter, TakesRecordsFromFourThreads) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kReplays = 1000;
  {
    const auto sink = open_profile(path, {});
    sink->device(test_device());
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        const GraphOptions options;
        send_run(*sink, GraphMaker(options).make(), kReplays - 1);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  EXPECT_EQ(sql(path,
                "SELECT recording_id IS NOT NULL, count(*), count(DISTINCT seq) FROM replays "
                "GROUP BY recording_id"),
            "1|1000|1000\n1|1000|1000\n1|1000|1000\n1|1000|1000");
  EXPECT_EQ(sql(path, "SELECT count(*) FROM graphs; SELECT count(*) FROM drops"), "1\n0");
}

TEST(ProfileWriter, CountsRecordsThatCannotBeStored) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  {
    const auto sink = open_profile(path, {});
    ReplayRecord orphan;
    orphan.recording = 77;
    sink->replay(orphan);
    sink->send(BufferRecord{5, "first", "device", 1, 0});
    sink->send(BufferRecord{5, "same id", "device", 1, 0});
    sink->send(BufferFreedRecord{5, 123});
  }
  EXPECT_EQ(sql(path, "SELECT what, count FROM drops ORDER BY what"), "buffer|1\nreplay|1");
  EXPECT_EQ(sql(path, "SELECT name, t_free_ns FROM buffers"), "first|123");
  EXPECT_EQ(sql(path, "SELECT exit_state FROM runs"), "done");
}

TEST(ProfileWriter, StopsAtAWriteErrorTellsTheLogOnceAndCountsWhatIsLost) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  std::vector<std::string> messages;
  {
    const auto sink = open_profile(path, {}, [&](LogLevel level, std::string_view text) {
      EXPECT_EQ(level, LogLevel::error);
      messages.emplace_back(text);
    });
    sql(path, "DROP TABLE step_timings; DROP TABLE replays");
    const GraphOptions options;
    send_run(*sink, GraphMaker(options).make(), 600);
  }
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages[0].find("no such table"), std::string::npos) << messages[0];
  EXPECT_EQ(sql(path, "SELECT exit_state FROM runs"), "profiling stopped");
  EXPECT_EQ(sql(path, "SELECT count FROM drops WHERE what='replay'"), "601");
}

TEST(ProfileWriter, SurvivesAFullDisk) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  int messages = 0;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  {
    const auto sink = open_profile(path, {}, [&](LogLevel, std::string_view) { ++messages; });
    const rlimit full{16384, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    const GraphOptions options;
    send_run(*sink, GraphMaker(options).make(), 600);
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_action);
  EXPECT_EQ(messages, 1);
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), "ok");
  const GraphOptions options;
  write_run(path, options);
  EXPECT_EQ(sql(path, "SELECT exit_state, replays FROM v_runs ORDER BY id"), "crashed|0\ndone|4");
}

TEST(ProfileWriter, IsClosedByItsLastRecordIfThatIsItsLastOwner) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  auto sink = open_profile(path, {});
  GraphOptions options;
  options.edit = [sink](ComputeGraph& graph) {
    graph.custom_ops.emplace_back(&test::add_op(), [sink](const OpDef*) {
      sink->send(BufferFreedRecord{1, 5});
    });
  };
  auto recorded = GraphMaker(options).make();
  options.edit = nullptr;
  send_run(*sink, std::move(recorded), 1);
  sink.reset();
  std::string state = "NULL";
  for (int attempt = 0; attempt < 10'000 && state == "NULL"; ++attempt) {  // the thread closes it
    state = sql(path, "SELECT exit_state FROM runs");
  }
  EXPECT_EQ(state, "done");
}

TEST(ProfileWriter, RefusesASecondWriterAndLeavesTheFirstOneAlone) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  {
    const auto first = open_profile(path, {});
    EXPECT_NE(refusal(path).find("another writer"), std::string::npos);
    const GraphOptions options;
    send_run(*first, GraphMaker(options).make(), 2);
  }
  EXPECT_EQ(sql(path, "SELECT replays, exit_state FROM v_runs"), "3|done");
  EXPECT_EQ(refusal(path), "");
}

TEST(ProfileWriter, LetsOnlyOneOfManyThreadsOpenAFile) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  std::array<std::shared_ptr<ProfileSink>, 4> sinks;
  std::vector<std::thread> threads;
  for (auto& sink : sinks) {
    threads.emplace_back([&] {
      try {
        sink = open_profile(path, {});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::count(sinks.begin(), sinks.end(), nullptr), 3);
  sinks = {};
  EXPECT_EQ(sql(path, "SELECT exit_state FROM runs; PRAGMA integrity_check"), "done\nok");
}

TEST(ProfileWriter, AppendsAfterAWriterWasKilled) {
  const TempFolder folder;
  const auto path = folder / "profile.db";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto sink = open_profile(path, {});
    raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(sql(path, "SELECT exit_state FROM runs"), "NULL");
  const GraphOptions options;
  write_run(path, options);
  EXPECT_EQ(sql(path, "SELECT exit_state, replays FROM v_runs ORDER BY id"), "crashed|0\ndone|4");
  EXPECT_EQ(sql(path, "PRAGMA integrity_check"), "ok");
}

TEST(ProfileWriter, AcceptsAnEmptyFileAndPathsOfAnyName) {
  const TempFolder folder;
  for (const char* name : {"empty.db", "a?b#c%41 d'.db"}) {
    std::ofstream(folder / name).close();
    const GraphOptions options;
    write_run(folder / name, options);
    EXPECT_EQ(sql(folder / name, "SELECT count(*) FROM replays"), "4");
    EXPECT_EQ(read_profile_info(folder / name).runs.at(0).replays, 4U);
  }
}

TEST(ProfileWriter, RefusesWhatIsNotAProfilingDatabaseAndLeavesItAsItWas) {
  const TempFolder folder;
  EXPECT_NE(refusal(folder / "no such folder/profile.db").find("No such file"), std::string::npos);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_NE(refusal(folder / "folder").find("is a directory"), std::string::npos);
  const std::string text(5000, 'x');
  std::ofstream(folder / "text") << text;
  EXPECT_NE(refusal(folder / "text").find("is not a profiling database"), std::string::npos);
  std::ifstream kept(folder / "text");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), text);
  std::ofstream(folder / "foreign").close();
  sql(folder / "foreign", "CREATE TABLE mine(x); INSERT INTO mine VALUES(7)");
  EXPECT_NE(refusal(folder / "foreign").find("application id"), std::string::npos);
  EXPECT_EQ(sql(folder / "foreign", "SELECT x FROM mine; PRAGMA journal_mode"), "7\ndelete");
  const GraphOptions options;
  write_run(folder / "newer", options);
  sql(folder / "newer", "PRAGMA user_version=99");
  EXPECT_NE(refusal(folder / "newer").find("schema version (99)"), std::string::npos);
  EXPECT_EQ(sql(folder / "newer", "SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(folder.files(), 4U);
}

TEST(ProfileWriter, RefusesAFileThatLacksAColumnItWrites) {
  const TempFolder folder;
  write_run(folder / "profile.db", {});
  sql(folder / "profile.db", "ALTER TABLE drops RENAME COLUMN reason TO cause");
  EXPECT_NE(refusal(folder / "profile.db").find("column (reason) of the table (drops) is missing"),
            std::string::npos);
  EXPECT_EQ(sql(folder / "profile.db", "SELECT count(*) FROM runs"), "1");
}

TEST(ProfileWriter, RemovesAFileItCreatedIfOpeningFails) {
  const TempFolder folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{16384, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string message = refusal(folder / "profile.db");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_action);
  EXPECT_NE(message.find("profile.db"), std::string::npos);
  EXPECT_TRUE(folder.empty());
}

}  // namespace
}  // namespace reprise
