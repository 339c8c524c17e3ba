// `reprise db prune`, `scrub` and `merge`: what is left, what is gone, and what is refused.
#include <fstream>
#include <sstream>

#include "debugger/cli/db_commands.h"
#include "framework/profile/profile_check.h"
#include "framework/profile/profile_rewrite.h"
#include "reprise/sql_query.h"
#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

using test::error_of;
using test::printed;
using test::sql;
using test::write_run;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class RewriteCommands : public test::TimedDatabase {
 protected:
  std::string out() const { return (folder_ / "out.db").string(); }
  /// The file is sound, and nothing lies beside it.
  void expect_sound(const std::filesystem::path& path, std::size_t files) {
    for (const ProfileFinding& finding : check_profile(path)) {
      ADD_FAILURE() << finding.about << ": " << finding.message;
    }
    EXPECT_EQ(folder_.files(), files);
  }
};

TEST_F(RewriteCommands, PruningKeepsTheLatestRunsAndWhatTheyNeed) {
  write_run(path_, {.label = "first"});
  write_run(path_, {.label = "second", .graph = {.name = "other", .scales = 1}});
  write_run(path_, {.label = "third"});
  EXPECT_EQ(prune_profile(path_, {.keep_runs = 2}).runs, 1U);
  EXPECT_EQ(sql(path_, "SELECT label FROM runs; SELECT name FROM graphs"),
            "second\nthird\ndecode\nother");
  const PruneResult second = prune_profile(path_, {.keep_runs = 1});
  EXPECT_EQ(second.runs, 1U);
  EXPECT_EQ(second.graphs, 1U);
  EXPECT_EQ(second.replays, 4U);
  EXPECT_EQ(sql(path_,
                "SELECT label FROM runs; SELECT name FROM graphs; SELECT count(*) FROM replays; "
                "SELECT count(*) FROM step_timings; SELECT DISTINCT graph_id FROM nodes"),
            "third\ndecode\n4\n4\n1");
  expect_sound(path_, 1);
}

TEST_F(RewriteCommands, PruningKeepsTheLatestReplaysOfEachGraphInEachRun) {
  write_run(path_, {.label = "first", .replays = 5});
  write_run(path_, {.label = "second", .replays = 3});
  EXPECT_EQ(prune_profile(path_, {.keep_replays = 2}).replays, 4U);
  EXPECT_EQ(sql(path_,
                "SELECT c.run_id, r.seq FROM replays r JOIN recordings c ON c.id=r.recording_id; "
                "SELECT count(*) FROM step_timings; SELECT max(n) FROM node_stats"),
            "1|3\n1|4\n2|1\n2|2\n4\n4");
  expect_sound(path_, 1);
}

/// SQLite does not look after the references while it removes: an order of tables does.
TEST_F(RewriteCommands, PruningLeavesNoReferenceToWhatIsGone) {
  for (const std::size_t scales : {1U, 2U, 1U, 3U}) {
    write_run(path_, {.graph = {.name = "decode of " + std::to_string(scales), .scales = scales}});
  }
  ASSERT_EQ(
      sql(path_,
          "INSERT INTO expert_residency SELECT id, id, 1, 'layer', 0, 0, 0, 0, 0, 0, 0, 0, 0, "
          "0, 0 FROM recordings"),
      "");
  prune_profile(path_, {.keep_runs = 2, .keep_replays = 1});
  EXPECT_EQ(sql(path_, "PRAGMA foreign_key_check"), "");
  EXPECT_EQ(sql(path_,
                "SELECT count(*) FROM sessions; SELECT count(*) FROM buffers; SELECT count(*) FROM "
                "recordings; SELECT count(DISTINCT recording_id) FROM recording_pools; SELECT "
                "count(*) FROM expert_residency; SELECT count(*) FROM replays"),
            "2\n2\n2\n2\n2\n2");
}

TEST_F(RewriteCommands, PruningRemovesCountersWithoutValues) {
  write_run(path_, {.label = "first"});
  write_run(path_, {.label = "second"});
  ASSERT_EQ(sql(path_,
                "INSERT INTO counters VALUES(1,'gone','%'),(2,'kept','%'); INSERT INTO "
                "counter_values(counter_id,run_id,t_ns,value) VALUES(1,1,1,1),(2,1,1,1),(2,2,1,1)"),
            "");
  prune_profile(path_, {.keep_runs = 1});
  EXPECT_EQ(sql(path_, "SELECT name FROM counters"), "kept");
}

TEST_F(RewriteCommands, PruningFollowsReferencesOfTablesThatTheFileHasOfItsOwn) {
  write_run(path_, {.label = "first"});
  write_run(path_, {.label = "second"});
  ASSERT_EQ(sql(path_,
                "CREATE TABLE notes(run_id INT REFERENCES runs(id) ON DELETE CASCADE); INSERT INTO "
                "notes VALUES(1),(2)"),
            "");
  prune_profile(path_, {.keep_runs = 1});
  EXPECT_EQ(sql(path_, "SELECT run_id FROM notes; PRAGMA foreign_key_check"), "2");
}

TEST_F(RewriteCommands, AViewInThePlaceOfATableIsNotTakenOver) {
  write_run(path_);
  ASSERT_EQ(sql(path_,
                "CREATE TABLE causes AS SELECT * FROM barrier_causes; DROP TABLE barrier_causes; "
                "CREATE VIEW barrier_causes AS SELECT * FROM causes"),
            "");
  EXPECT_EQ(error_of([&] {
              cli::merge({{path()}, out()});
            }),
            "The column (graph_id) of the table (barrier_causes) is missing. (in the profiling "
            "database " +
                path() + ")");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(RewriteCommands, VacuumMakesTheFileSmaller) {
  write_run(path_, {.replays = 3000});
  const std::uintmax_t before = std::filesystem::file_size(path_);
  const std::string text = printed([&] { cli::prune({path(), {}, 1, true}); });
  const std::uintmax_t after = std::filesystem::file_size(path_);
  EXPECT_EQ(text, "removed 0 runs, 0 graphs, 2999 replays; " + std::to_string(after) +
                      " bytes, were " + std::to_string(before) + "\n");
  EXPECT_LT(after, before);
  expect_sound(path_, 1);
}

TEST_F(RewriteCommands, PruneSaysWhatItRemovedAsJson) {
  write_run(path_);
  const std::string text = printed([&] { cli::prune({path(), 1, 3, false, true}); });
  EXPECT_EQ(text.substr(0, text.find("bytes_before")),
            "{\n  \"removed_runs\": 0,\n  \"removed_graphs\": 0,\n  \"removed_replays\": 1,\n  \"");
  EXPECT_EQ(error_of([&] { cli::prune({path(), 0}); }), "--keep-runs is (0), but must be above 0.");
}

TEST_F(RewriteCommands, FilesThatALiveProcessWritesAreLeftAlone) {
  write_run(path_);
  const std::string refusal = "The profiling database (" + path() +
                              ") is being written by a live process; it is left alone.";
  const auto writer = open_profile(path_, test::run_info("test", "live"));
  EXPECT_EQ(error_of([&] { cli::prune({path(), 1}); }), refusal);
  EXPECT_EQ(error_of([&] { cli::scrub({path(), out()}); }), refusal);
  EXPECT_EQ(error_of([&] { cli::merge({{path()}, out()}); }), refusal);
  EXPECT_FALSE(std::filesystem::exists(out()));
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM runs"), "2");
}

TEST_F(RewriteCommands, OtherFilesAreRefusedAndStayAsTheyAre) {
  write_run(path_);
  for (const auto& [change, says] : std::vector<std::pair<std::string, std::string>>{
           {"PRAGMA application_id=7", "is not a profiling database: its application id is (7)"},
           {"PRAGMA application_id=1380995667; PRAGMA user_version=99", "schema version (99)"}}) {
    ASSERT_EQ(sql(path_, change), "");
    const std::string before = content_of(path_);
    for (const std::string& error : {error_of([&] {
                                       cli::prune({path(), 1});
                                     }),
                                     error_of([&] {
                                       cli::scrub({path(), out()});
                                     }),
                                     error_of([&] {
                                       cli::merge({{path()}, out()});
                                     })}) {
      EXPECT_NE(error.find(says), std::string::npos) << error;
    }
    EXPECT_EQ(content_of(path_), before);
    EXPECT_EQ(folder_.files(), 1U);
  }
  EXPECT_EQ(error_of([&] {
              cli::prune({out(), 1});
            }),
            "The profiling database (" + out() + ") cannot be read: there is no such file.");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(RewriteCommands, AScrubbedCopyDoesNotHoldWhatIsPrivate) {
  write_run(path_, {.graph = {.file = "/home/somebody/secret/model.cpp", .scales = 1}});
  ASSERT_EQ(
      sql(path_,
          "UPDATE runs SET env_json='SECRETENV', notes='SECRETNOTE'; INSERT INTO snapshots("
          "replay_id,graph_id,tensor_idx,node_idx,t_ns,dtype,shape_json,nbytes,content_hash,data) "
          "VALUES(1,1,0,0,1,'f32','[1]',10,'h','SECRETDATA'); INSERT INTO meta "
          "VALUES('x','SECRETMETA'); CREATE TABLE notes(t); INSERT INTO notes VALUES("
          "'SECRETTABLE'); INSERT INTO events(run_id,t_ns,severity,source,message) VALUES(1,"
          "1,1,'x','SECRETEVENT'); UPDATE hosts SET hostname='SECRETHOST'"),
      "");
  ASSERT_NE(content_of(path_).find("SECRET"), std::string::npos);
  EXPECT_EQ(printed([&] {
              cli::scrub({path(), out()});
            }),
            out() + ": labels, names of scopes and tensors, and times are as they were\n");
  const std::string content = content_of(out());
  const std::string machine = sql(path_, "SELECT machine_id_hash FROM hosts");
  for (const std::string& secret :
       {std::string("SECRET"), std::string("--secret"), std::string("/home"), machine,
        test::bytes_of(path_, "SELECT state FROM replays LIMIT 1")}) {
    EXPECT_EQ(content.find(secret), std::string::npos) << secret;
  }
  EXPECT_EQ(sql(out(),
                "SELECT DISTINCT src_file FROM nodes; SELECT model_path, label FROM runs; SELECT "
                "hostname FROM hosts; SELECT count(*) FROM step_timings"),
            "model.cpp\nmodel.gguf|first\nscrubbed\n4");
  const std::string times = "SELECT idx, n, sum_ns, p50_ns FROM node_stats";
  EXPECT_EQ(sql(out(), times), sql(path_, times));
  expect_sound(out(), 2);
}

TEST_F(RewriteCommands, MergingSharesGraphsAndKeepsEveryRun) {
  const std::filesystem::path other = folder_ / "other.db";
  write_run(other, {.label = "prefill", .graph = {.name = "prefill", .scales = 2}});
  write_run(other, {.label = "slower", .replays = 6});
  write_run(path_, {.label = "first"});
  EXPECT_EQ(printed([&] {
              cli::merge({{path(), other.string()}, out()});
            }),
            "3 runs, 2 graphs (1 of them shared), 14 replays\n");
  EXPECT_EQ(sql(out(),
                "SELECT r.label, g.name, g.node_count, (SELECT count(*) FROM nodes WHERE "
                "graph_id=g.id), count(*), count(t.replay_id) FROM runs r JOIN recordings c ON "
                "c.run_id=r.id JOIN graphs g ON g.id=c.graph_id JOIN replays p ON "
                "p.recording_id=c.id JOIN step_timings t ON t.replay_id=p.id GROUP BY r.id"),
            "first|decode|4|4|4|4\nprefill|prefill|5|5|4|4\nslower|decode|4|4|6|6");
  EXPECT_EQ(sql(out(),
                "SELECT DISTINCT hostname IS NOT NULL FROM hosts; SELECT count(*) FROM "
                "devices; SELECT count(*) FROM sessions s JOIN recordings c ON "
                "c.session_id=s.id AND c.run_id=s.run_id"),
            "1\n1\n3");
  expect_sound(out(), 3);
}

TEST_F(RewriteCommands, MergingAFileTwiceAddsNothing) {
  write_run(path_);
  EXPECT_EQ(printed([&] {
              cli::merge({{path(), path()}, out()});
            }),
            "1 runs, 1 graphs (1 of them shared), 4 replays\n"
            "1 runs were in an earlier file already\n");
  expect_sound(out(), 2);
  EXPECT_EQ(error_of([&] {
              cli::merge({{path()}, out()});
            }),
            "The file (" + out() + ") exists already; it is not overwritten.");
}

TEST_F(RewriteCommands, MergingKeepsWhatBelongsToNoRunOnce) {
  const std::filesystem::path other = folder_ / "other.db";
  const std::string unowned =
      "INSERT INTO benchmarks(test,samples_ns_json) "
      "VALUES('pp5','[1]'),('pp5','[1]'),";
  write_run(path_, {.label = "first"});
  ASSERT_EQ(sql(path_, unowned + "('tg1','[2]')"), "");
  write_run(other, {.label = "second"});
  ASSERT_EQ(sql(other, unowned + "('tg1','[3]')"), "");
  printed([&] { cli::merge({{path(), other.string(), path()}, out()}); });
  EXPECT_EQ(sql(out(), "SELECT test, samples_ns_json FROM benchmarks ORDER BY id"),
            "pp5|[1]\npp5|[1]\ntg1|[2]\ntg1|[3]");
}

TEST_F(RewriteCommands, FilesOfVersion1CanBeMerged) {
  std::filesystem::copy_file(REPRISE_PROFILE_VERSIONS_DIR "/v1.db", path_);
  ASSERT_EQ(sql(path_, "DROP TABLE expert_residency; ALTER TABLE sessions DROP COLUMN precision"),
            "");
  EXPECT_EQ(merge_profiles(std::span(&path_, 1), out()).replays,
            std::stoul(sql(path_, "SELECT count(*) FROM replays")));
  EXPECT_EQ(sql(out(), "PRAGMA user_version; SELECT count(*) FROM expert_residency"), "3\n0");
  EXPECT_EQ(sql(path_, "PRAGMA user_version"), "1");
}

TEST_F(RewriteCommands, WhatCannotBeTakenOverLeavesNothing) {
  write_run(path_);
  ASSERT_EQ(sql(path_, "UPDATE recordings SET graph_id=99"), "");
  EXPECT_EQ(error_of([&] {
              cli::merge({{path()}, out()});
            }),
            "The profiling database (" + path() +
                ") cannot be taken over (NOT NULL constraint failed: recordings.graph_id); "
                "`reprise db check` says what is wrong with it.");
  EXPECT_EQ(folder_.files(), 1U);
  std::stop_source source;
  source.request_stop();
  write_run(folder_ / "large.db", {.replays = 200});
  EXPECT_THROW(scrub_profile(folder_ / "large.db", out(), source.get_token()), Cancelled);
  EXPECT_THROW(prune_profile(folder_ / "large.db", {.keep_replays = 1}, source.get_token()),
               Cancelled);
  EXPECT_EQ(sql(folder_ / "large.db", "SELECT count(*) FROM replays"), "200");
  EXPECT_EQ(folder_.files(), 2U);
}

}  // namespace
}  // namespace reprise
