// Captures of files that nobody should have written.
#include <algorithm>
#include <fstream>

#include "framework/profile/capture_reader.h"
#include "reprise/sql_query.h"
#include "tests/file_contents.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::GraphMaker;
using test::GraphOptions;
using test::nanosecond_device;
using test::random_durations;
using test::send_recording;
using test::sql;
using test::TempFolder;
using test::TimedReplay;

constexpr CaptureId kFirst{1, 1};

void write_profile(const std::filesystem::path& path) {
  GraphOptions options;
  options.scales = 2;  // five nodes, seven steps
  const auto graph = GraphMaker(options).make();
  const auto sink = open_profile(path, {});
  sink->device(nanosecond_device());
  const std::uint64_t recording = send_recording(*sink, graph);
  std::mt19937_64 random(1);
  for (std::uint64_t r = 0; r < 20; ++r) {
    TimedReplay replay(recording, r, random_durations(random, graph->steps.size()));
    sink->replay(replay.record);
  }
}

/// All that the header promises about indices.
void expect_sound(const Capture& c) {
  const auto in = [](const std::optional<std::uint32_t>& i, const auto& rows) {
    return !i || *i < rows.size();
  };
  const auto range_in = [](const Capture::Range& range, const auto& rows) {
    return std::uint64_t{range.first} + range.count <= rows.size();
  };
  for (const Capture::Node& n : c.nodes) {
    EXPECT_TRUE(n.operands.count == 0 || range_in(n.operands, c.operands));
    EXPECT_TRUE(n.steps.count == 0 || range_in(n.steps, c.step_order));
    EXPECT_LT(n.level, c.nodes.size());
  }
  for (const Capture::Operand& o : c.operands) {
    EXPECT_LT(o.tensor, c.tensors.size());
  }
  for (const std::uint32_t s : c.step_order) {
    EXPECT_LT(s, c.steps.size());
  }
  for (const Capture::Step& s : c.steps) {
    EXPECT_TRUE(in(s.node, c.nodes) && in(s.kernel, c.kernels));
  }
  for (std::uint32_t t = 0; t < c.tensors.size(); ++t) {
    const Capture::Tensor& tensor = c.tensors[t];
    EXPECT_TRUE(in(tensor.pool, c.pools) && in(tensor.first_step, c.steps) &&
                in(tensor.last_step, c.steps) && tensor.alias_of.value_or(0) <= t);
  }
  EXPECT_TRUE(std::is_sorted(c.edges.begin(), c.edges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.dst, a.src) < std::pair(b.dst, b.src);
  }));
  for (const Capture::Edge& e : c.edges) {
    EXPECT_LT(e.src, e.dst);
    EXPECT_LT(e.dst, c.nodes.size());
    EXPECT_LT(e.tensor, c.tensors.size());
  }
  for (const Capture::Barrier& b : c.barriers) {
    EXPECT_LT(b.before_step, c.steps.size());
    EXPECT_TRUE(in(b.cause_src, c.steps) && in(b.cause_dst, c.steps) && in(b.pool, c.pools));
  }
  for (const Capture::PassDecision& d : c.pass_decisions) {
    EXPECT_TRUE(in(d.node, c.nodes));
  }
  EXPECT_TRUE(std::is_sorted(c.pass_decisions.begin(), c.pass_decisions.end(),
                             [](const auto& a, const auto& b) { return a.pass < b.pass; }));
}

class DamagedCaptures : public ::testing::Test {
 protected:
  DamagedCaptures() { write_profile(path_); }
  /// The capture after `change`, sound whatever that did.
  Capture after(const std::string& change) {
    EXPECT_EQ(sql(path_, "PRAGMA foreign_keys=OFF; " + change), "");
    Capture capture = read_capture(path_, kFirst);
    expect_sound(capture);
    return capture;
  }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

TEST_F(DamagedCaptures, NodesAfterAGapAreLeftOutWithWhatNamesThem) {
  const Capture c = after("DELETE FROM nodes WHERE idx=2");
  EXPECT_EQ(c.nodes.size(), 2U);
  EXPECT_EQ(c.summary.nodes, 2U);
  EXPECT_EQ(c.steps.size(), 7U);
  EXPECT_EQ(c.step_order.size(), 2U);
  ASSERT_EQ(c.problems.size(), 6U);
  EXPECT_NE(c.problems[0].text.find("2 rows of nodes"), std::string::npos) << c.problems[0].text;
  EXPECT_NE(c.problems[1].text.find("(5) nodes"), std::string::npos) << c.problems[1].text;
  EXPECT_NE(c.problems[2].text.find("5 references of steps"), std::string::npos)
      << c.problems[2].text;
  EXPECT_NE(c.problems[3].text.find("rows of node_tensors"), std::string::npos)
      << c.problems[3].text;
  EXPECT_NE(c.problems[4].text.find("rows of edges"), std::string::npos) << c.problems[4].text;
  EXPECT_NE(c.problems[5].text.find("3 rows of node_stats"), std::string::npos)
      << c.problems[5].text;
}

TEST_F(DamagedCaptures, EdgesThatGoBackwardsAreLeftOut) {
  const std::size_t edges = read_capture(path_, kFirst).edges.size();
  const Capture c = after(
      "INSERT INTO edges VALUES(1,3,1,0,'RAW'),(1,2,2,0,'RAW'),(1,-1,2,0,'RAW'),(1,0,99,0,'RAW'),"
      "(1,0,1,99,'RAW'),(1,9223372036854775807,4,0,'WAR')");
  EXPECT_EQ(c.edges.size(), edges);
  ASSERT_EQ(c.problems.size(), 2U);
  EXPECT_NE(c.problems[0].text.find("4 rows of edges"), std::string::npos) << c.problems[0].text;
  EXPECT_NE(c.problems[0].text.find("no such nodes"), std::string::npos) << c.problems[0].text;
  EXPECT_NE(c.problems[1].text.find("2 rows of edges"), std::string::npos) << c.problems[1].text;
  EXPECT_NE(c.problems[1].text.find("cycles"), std::string::npos) << c.problems[1].text;
}

TEST_F(DamagedCaptures, ReferencesToNothingAreLeftOut) {
  const Capture c = after(
      "UPDATE steps SET kernel_id=77, node_idx=-1 WHERE idx=0; UPDATE tensors SET alias_of=idx, "
      "pool_idx=9, first_use=-4, last_use=1000; UPDATE barriers SET cause_src=-1, "
      "cause_dst=88, pool_idx=1e300; UPDATE barriers SET before_step=99 WHERE ordinal=0");
  EXPECT_EQ(c.steps[0].node, std::nullopt);
  EXPECT_EQ(c.steps[0].kernel, std::nullopt);
  EXPECT_EQ(c.tensors[0].alias_of, std::nullopt);
  EXPECT_EQ(c.tensors[0].last_step, std::nullopt);
  ASSERT_EQ(c.problems.size(), 4U);
  EXPECT_NE(c.problems[0].text.find("2 references of steps"), std::string::npos)
      << c.problems[0].text;
  EXPECT_NE(c.problems[1].text.find("references of tensors"), std::string::npos)
      << c.problems[1].text;
  EXPECT_NE(c.problems[2].text.find("1 rows of barriers"), std::string::npos) << c.problems[2].text;
  EXPECT_NE(c.problems[3].text.find("references of barriers"), std::string::npos)
      << c.problems[3].text;
}

TEST_F(DamagedCaptures, DecisionsAboutNoNodeKeepTheirReason) {
  const Capture c = after(
      "INSERT INTO pass_decisions VALUES(1,'in_place',3,'shared',5,7,'far',9223372036854775807),"
      "(1,'in_place',-2,'shared',-1,'x',x'FF',-1),(1,x'FF','text',1,2,0,NULL,'text'),"
      "(2,'in_place',0,'shared',0,1,'of another graph',0)");
  ASSERT_EQ(c.pass_decisions.size(), 3U);
  EXPECT_EQ(c.pass_decisions[0].node, std::nullopt);
  EXPECT_EQ(c.pass_decisions[0].applied, false);
  EXPECT_EQ(c.pass_decisions[0].reason, "\xFF");
  EXPECT_EQ(c.pass_decisions[1].applied, true);
  EXPECT_EQ(c.pass_decisions[1].reason, "far");
  EXPECT_EQ(c.pass_decisions[1].estimate_ns, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(c.pass_decisions[2].kind, "1");
  EXPECT_EQ(c.pass_decisions[2].node, 2U);
  EXPECT_EQ(c.pass_decisions[2].estimate_ns, 0);
  ASSERT_EQ(c.problems.size(), 1U);
  EXPECT_NE(c.problems[0].text.find("2 references of pass_decisions"), std::string::npos)
      << c.problems[0].text;
}

TEST_F(DamagedCaptures, NumbersAndTextsThatNobodyWrites) {
  const std::string name(1 << 20, '%');
  const Capture c = after(
      "UPDATE nodes SET op='" + name +
      "', label='##%s', scope=CAST(x'00FF2F' AS TEXT), flops=-1, read_bytes=9223372036854775807, "
      "level=4294967295, src_line=-7, attributes_json='{'; UPDATE steps SET grid_x=-1, "
      "grid_y=9223372036854775807, grid_z='x', push=x'0102030405'; UPDATE tensors SET nbytes=-1; "
      "UPDATE pools SET size_bytes=-1; UPDATE graphs SET arena_bytes=-5; "
      "INSERT INTO state_fields VALUES(1,7,'far','i32',1,4096,'host',NULL),"
      "(1,8,'many','i32',9223372036854775807,0,'host',NULL),(1,9,'odd','i32',1,2,'host',NULL)");
  EXPECT_EQ(c.nodes[0].op, name);
  EXPECT_EQ(c.nodes[0].scope, std::string("\0\xFF/", 3));
  EXPECT_EQ(c.nodes[0].flops, 0U);
  EXPECT_EQ(c.nodes[0].source_line, 0U);
  EXPECT_EQ(c.steps[0].grid, (std::array<std::uint32_t, 3>{0, 0xFFFFFFFF, 0}));
  EXPECT_EQ(c.steps[0].push, (std::vector<std::uint32_t>{0x04030201, 5}));
  EXPECT_EQ(c.arena_bytes, 0U);
  EXPECT_EQ(c.state_fields.size(), 3U);
  std::vector<std::string> problems;
  for (const FileProblem& problem : c.problems) {
    problems.push_back(problem.text.substr(0, problem.text.find(" are ")));
  }
  EXPECT_EQ(problems,
            (std::vector<std::string>{
                "1 numbers of graphs", std::to_string(c.pools.size()) + " numbers of pools",
                "10 numbers of nodes", "21 numbers of steps",
                std::to_string(c.tensors.size()) + " numbers of tensors",
                "3 rows of state_fields were left out: a state block has no such words."}));
  ReplayTable table;
  EXPECT_EQ(read_new_replays(path_, kFirst, table), 20U);
  EXPECT_EQ(table.state_words, 3U);
  EXPECT_EQ(table.odd_numbers, 0U);
}

TEST_F(DamagedCaptures, TimesThatNobodyMeasured) {
  const Capture c = after(
      "UPDATE replays SET device_ns=-1, seq=-1, timing_mode=99, status=-1, phase=x'FF', "
      "state='text', t_submit_ns='x'; UPDATE node_stats SET n=9223372036854775807, sum_ns=-1, "
      "mean_ns=9e999, stddev_ns='x', hist=x'FFFFFFFFFFFFFFFFFFFFFFFF' WHERE idx=0; "
      "UPDATE node_stats SET idx=-5 WHERE idx=1; UPDATE node_stats SET hist=x'FF0E' || "
      "zeroblob(4000) WHERE idx=2");
  ASSERT_EQ(c.problems.size(), 1U);
  EXPECT_NE(c.problems[0].text.find("2 rows of node_stats"), std::string::npos)
      << c.problems[0].text;
  ReplayTable table;
  EXPECT_EQ(read_new_replays(path_, kFirst, table), 20U);
  EXPECT_EQ(table.rows[0].device_ns, std::nullopt);
  EXPECT_EQ(table.odd_numbers, 20U * 5);  // device_ns, seq, timing_mode, status and t_submit_ns
  EXPECT_EQ(table.rows[0].timing_mode, TimingMode::off);
  EXPECT_NE(table.rows[0].status, 0U);
  const auto tables = read_node_timings(path_, kFirst);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].nodes.at(0), std::nullopt);
  EXPECT_EQ(tables[0].nodes.at(1), std::nullopt);
  EXPECT_TRUE(read_node_histogram(path_, kFirst, "decode", TimingMode::node, 0).empty());
  EXPECT_LE(read_node_histogram(path_, kFirst, "decode", TimingMode::node, 2).size(), 1920U);
}

TEST_F(DamagedCaptures, ReplaysOfRecordingsThatTakeTurnsAreInTheirOrder) {
  const auto read = [&] {
    ReplayTable table;
    read_new_replays(path_, kFirst, table);
    std::string rows;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      rows += std::to_string(table.rows[r].id) + " " + std::to_string(table.rows[r].sequence) +
              " " + std::to_string(table.state[r * table.state_words]) + "\n";
    }
    return rows;
  };
  ASSERT_EQ(sql(path_, "UPDATE replays SET state=CAST(id || '...............' AS BLOB)"), "");
  const std::string before = read();
  ASSERT_EQ(sql(path_,
                "INSERT INTO recordings(id,run_id,graph_id,device_id,t_ns) VALUES(7,1,1,1,0); "
                "UPDATE replays SET recording_id=7 WHERE id%2=1"),
            "");
  EXPECT_EQ(read(), before);
  EXPECT_EQ(std::ranges::count(before, '\n'), 20);
}

TEST_F(DamagedCaptures, AnEmptyGraphAndASingleNode) {
  const Capture one = after("DELETE FROM nodes WHERE idx>0; UPDATE graphs SET node_count=1");
  EXPECT_EQ(one.nodes.size(), 1U);
  const Capture none =
      after("DELETE FROM nodes; DELETE FROM steps; UPDATE graphs SET node_count=0");
  EXPECT_TRUE(none.nodes.empty());
  EXPECT_TRUE(none.barriers.empty());
  EXPECT_EQ(read_node_timings(path_, kFirst)[0].nodes.size(), 0U);
}

TEST_F(DamagedCaptures, ReplaysAndRecordingsOfNoCaptureAreCounted) {
  const Capture c = after(
      "INSERT INTO recordings(run_id,graph_id,device_id,t_ns) VALUES(1,99,1,0),(99,1,1,0); UPDATE "
      "replays SET recording_id=77 WHERE id>17; UPDATE step_timings SET codec=2 WHERE replay_id=1; "
      "UPDATE step_timings SET unit_ns=2000000 WHERE replay_id=2; UPDATE step_timings SET "
      "data='text' WHERE replay_id=3");
  std::vector<std::string> problems;
  for (const FileProblem& problem : c.problems) {
    problems.push_back(problem.table + ": " + problem.text);
  }
  EXPECT_EQ(
      problems,
      (std::vector<std::string>{
          "recordings: 2 rows of recordings were left out: the file has no such run or graph.",
          "replays: 3 rows of replays were left out: the file has no such recording.",
          "step_timings: 3 rows of step_timings were left out: they are not times of (7) "
          "steps."}));
  std::size_t timed = 0;
  const std::vector<std::int64_t> ids{1, 2, 3, 4};
  read_step_times(path_, ids, 7, [&](std::size_t, auto) { ++timed; });
  EXPECT_EQ(timed, 1U);
}

TEST_F(DamagedCaptures, RecordingsOfWhichNoneHasItsGraphAreDamage) {
  ASSERT_EQ(sql(path_, "PRAGMA foreign_keys=OFF; DELETE FROM graphs"), "");
  testing::expect_error(ErrorCode::io, {"lacks the run or the graph", "(1) recordings"},
                        [&] { read_captures(path_); });
}

TEST_F(DamagedCaptures, OfTooManyPhasesTheRestIsCounted) {
  const Capture c = after(
      "WITH RECURSIVE p(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM p WHERE i<80) INSERT INTO "
      "node_stats(graph_id,run_id,phase,timing_mode,idx,n,sum_ns,min_ns,max_ns,p50_ns,p95_ns,"
      "mean_ns,stddev_ns) SELECT 1,1,'phase '||i,2,0,1,1,1,1,1,1,1,0 FROM p; "
      "INSERT INTO node_stats(graph_id,run_id,phase,timing_mode,idx,n,sum_ns) "
      "VALUES(1,1,'odd',9,0,1,1)");
  EXPECT_EQ(read_node_timings(path_, kFirst).size(), 64U);
  ASSERT_EQ(c.problems.size(), 2U);
  EXPECT_NE(c.problems[0].text.find("1 rows of node_stats"), std::string::npos);
  EXPECT_NE(c.problems[1].text.find("(81) phases"), std::string::npos) << c.problems[1].text;
}

TEST_F(DamagedCaptures, AnIndexThatLiesAboutLengthsLeadsNowhere) {
  // Its keys are those of blobs as long as seven steps; the file says that they are lengths.
  ASSERT_EQ(sql(path_,
                "PRAGMA legacy_alter_table=ON; ALTER TABLE step_timings RENAME TO t; CREATE TABLE "
                "step_timings AS SELECT * FROM t; DROP TABLE t; UPDATE step_timings SET "
                "data=x'0102'; "
                "CREATE INDEX lie ON step_timings(replay_id, 56+0*length(data)); PRAGMA "
                "writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE INDEX lie ON "
                "step_timings(replay_id, length(data))' WHERE name='lie'"),
            "");
  const std::string plan = sql(path_,
                               "EXPLAIN QUERY PLAN SELECT data FROM step_timings WHERE replay_id=1 "
                               "AND length(data)=56");
  ASSERT_NE(plan.find("INDEX lie"), std::string::npos) << plan;
  const std::vector<std::int64_t> ids{1, 2, 3};
  read_step_times(path_, ids, 7, [](std::size_t, auto) { ADD_FAILURE() << "read past the end"; });
}

TEST_F(DamagedCaptures, WhatIsNoProfileIsRefused) {
  const auto refused = [&](const std::vector<std::string>& parts) {
    testing::expect_error(ErrorCode::io, parts, [&] { read_captures(path_); });
    testing::expect_error(ErrorCode::io, parts, [&] { read_capture(path_, kFirst); });
    testing::expect_error(ErrorCode::io, parts, [&] { read_node_timings(path_, kFirst); });
    testing::expect_error(ErrorCode::io, parts, [&] {
      ReplayTable table;
      read_new_replays(path_, kFirst, table);
    });
    testing::expect_error(ErrorCode::io, parts, [&] { run_sql(path_, "SELECT 1"); });
  };
  const std::string whole = test::contents_of(path_);
  sql(path_, "PRAGMA user_version=99");
  refused({"schema version (99)"});
  std::ofstream(path_, std::ios::binary) << whole.substr(0, whole.size() / 2);
  refused({"malformed"});
  std::ofstream(path_) << "Dear diary, " << std::string(5000, '.');
  refused({"is not a profiling database"});
  std::ofstream(path_) << "";
  refused({"it is empty"});
  std::filesystem::remove(path_);
  refused({"there is no such file"});
}

TEST_F(DamagedCaptures, EveryReaderAnswersOrThrowsOnRandomDamage) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  ASSERT_EQ(sql(path_,
                "INSERT INTO pass_decisions SELECT graph_id, op, idx, 'shared', idx, 1, scope, 10 "
                "FROM nodes"),
            "");
  const std::string whole = test::contents_of(path_);
  const std::filesystem::path damaged = folder_ / "damaged.db";
  int answered = 0;
  int refused = 0;
  const auto attempt = [&](const auto& read) {
    try {
      read();
      ++answered;
    } catch (const Error&) {
      ++refused;
    }
  };
  SqlLimits limits;
  limits.time = std::chrono::milliseconds(100);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    // A few bits anywhere, or a stretch of noise behind the header.
    for (std::uint64_t flips = 1 + random() % 30; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    if (round % 3 == 0) {
      const std::size_t from = 100 + random() % (bytes.size() - 100);
      for (std::size_t at = from; at < std::min(bytes.size(), from + random() % 3000); ++at) {
        bytes[at] = static_cast<char>(random() & 0xFFU);
      }
    }
    std::ofstream(damaged, std::ios::binary) << bytes;
    std::vector<std::int64_t> ids{1, 2, 3};
    attempt([&] { read_captures(damaged); });
    attempt([&] { expect_sound(read_capture(damaged, kFirst)); });
    attempt([&] {
      ReplayTable table;
      read_new_replays(damaged, kFirst, table);
      EXPECT_EQ(table.state.size(), table.rows.size() * table.state_words);
    });
    attempt([&] { read_node_timings(damaged, kFirst); });
    attempt([&] { read_step_times(damaged, ids, 7, [](std::size_t, auto) {}); });
    attempt([&] { read_node_histogram(damaged, kFirst, "decode", TimingMode::node, 1); });
    attempt([&] { run_sql(damaged, "SELECT * FROM v_top_nodes", limits); });
  }
  EXPECT_GT(answered, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace reprise
