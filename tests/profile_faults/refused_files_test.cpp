// Files that are no profiling database, of a newer version, or cut short; and files that are taken
// away, replaced or cut while they are read or written. Readers say so or answer, commands end with
// status 1, and nothing is changed or left behind.
#include <array>
#include <cstdio>
#include <sys/wait.h>

#include <sqlite3.h>

#include "debugger/cli/commands.h"
#include "debugger/cli/db_commands.h"
#include "framework/profile/profile_reader.h"
#include "framework/profile/profile_snapshot.h"
#include "reprise/core/error.h"
#include "reprise/sql_query.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_faults/file_state.h"
#include "tests/profile_faults/forward_pass.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::error_of;
using test::sql;
using test::TempFolder;

constexpr std::array kCommands{"db info",
                               "db top",
                               "db nodes",
                               "db passes",
                               "db replays",
                               "db timeline",
                               "db memory",
                               "db barriers",
                               "db check",
                               "db diff --run-a 1 --run-b 2",
                               "db export --perfetto -",
                               "db prune --keep-runs 1",
                               "db scrub -o out.db",
                               "db merge -o out.db"};

class RefusedFiles : public test::TimedDatabase {
 protected:
  RefusedFiles() {
    test::write_run(path_, {.replays = 5});
    test::write_run(path_, {.replays = 5});
    bytes_ = test::bytes_of_file(path_);
  }
  /// What every reader says, which is the same but for the word that a command begins with.
  void expect_refused(const std::string& says) {
    const auto files = test::files_of(folder_ / ".");
    const std::string out = (folder_ / "out.db").string();
    const std::string file = path();
    const std::pair<const char*, std::function<void()>> readers[] = {
        {"captures", [&] { read_captures(path_); }},
        {"info", [&] { read_profile_info(path_); }},
        {"top", [&] { read_top_nodes(path_, {}); }},
        {"sql", [&] { run_sql(path_, "SELECT 1"); }},
        {"timeline", [&] { cli::print_timeline({file}); }},
        {"memory", [&] { cli::print_memory({file}); }},
        {"barriers", [&] { cli::print_barriers({file}); }},
        {"check", [&] { cli::print_check({file}); }},
        {"diff", [&] { cli::print_diff({.path = file, .run_a = 1, .run_b = 2}); }},
        {"export",
         [&] {
           cli::export_capture({file, {}, "-", ""});
         }},
        {"prune",
         [&] {
           cli::prune({file, 1});
         }},
        {"scrub",
         [&] {
           cli::scrub({file, out});
         }},
        {"merge",
         [&] {
           cli::merge({{file}, out});
         }},
        {"write", [&] { open_profile(path_, {}); }},
    };
    for (const auto& [name, read] : readers) {
      SCOPED_TRACE(name);
      try {
        read();
        ADD_FAILURE() << "it is read";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
      }
      EXPECT_TRUE(test::files_of(folder_ / ".") == files) << "something changed";
    }
  }
  /// The status of the program and what it wrote to standard error.
  std::pair<int, std::string> run_command(std::string command) const {
    const std::size_t options = command.find(" -");
    command.insert(options == std::string::npos ? command.size() : options, " profile.db");
    const std::string line = "cd '" + (folder_ / ".").string() + "' && '" REPRISE_PROGRAM "' " +
                             command + " 2>&1 >/dev/null";
    FILE* const pipe = popen(line.c_str(), "r");
    std::string text;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
      text += static_cast<char>(c);
    }
    return {WEXITSTATUS(pclose(pipe)), text};
  }
  std::string bytes_;
};

TEST_F(RefusedFiles, OfAnotherProgram) {
  test::write_file(path_, "");
  sql(path_, "CREATE TABLE mine(x); PRAGMA application_id=7");
  expect_refused("is not a profiling database: its application id is (7), expected 1380995667.");
}

TEST_F(RefusedFiles, OfANewerVersion) {
  sql(path_, "PRAGMA user_version=99");
  expect_refused("has schema version (99); this build knows versions 1 to 3.");
}

TEST_F(RefusedFiles, ThatAreNoDatabase) {
  test::write_file(path_, std::string(20'000, 'x'));
  expect_refused("is not a profiling database, nor any SQLite one.");
}

TEST_F(RefusedFiles, CutShortAnywhere) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  constexpr std::size_t kPage = 8192;
  std::vector<std::size_t> sizes{1, 99, 100, 511, 512, kPage - 1, kPage, bytes_.size() - 1};
  for (int i = 0; i < 6; ++i) {
    sizes.push_back(1 + random() % (bytes_.size() - 1));
    sizes.push_back(kPage * (1 + random() % (bytes_.size() / kPage - 1)));
  }
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    test::write_file(path_, bytes_.substr(0, size));
    const auto files = test::files_of(folder_ / ".");
    for (const auto& read : std::vector<std::function<void()>>{
             [&] { read_captures(path_); }, [&] { read_profile_info(path_); },
             [&] { run_sql(path_, "SELECT 1"); }, [&] { cli::print_check({path()}); },
             [&] {
               cli::prune({path(), 1});
             },
             [&] {
               cli::scrub({path(), (folder_ / "out.db").string()});
             }}) {
      testing::expect_error(ErrorCode::io, {path()}, read);
    }
    EXPECT_TRUE(test::files_of(folder_ / ".") == files) << "something changed";
  }
}

TEST_F(RefusedFiles, EndEveryCommandWithStatusOne) {
  sql(path_, "PRAGMA user_version=99");
  const auto files = test::files_of(folder_ / ".");
  for (const char* command : kCommands) {
    const auto [status, text] = run_command(command);
    EXPECT_EQ(status, 1) << command;
    EXPECT_EQ(text,
              "error: The profiling database (profile.db) has schema version (99); this build "
              "knows versions 1 to 3.\n")
        << command;
  }
  EXPECT_TRUE(test::files_of(folder_ / ".") == files) << "something changed";
}

TEST_F(RefusedFiles, CutShortEndEveryCommandWithStatusOne) {
  test::write_file(path_, bytes_.substr(0, bytes_.size() / 2));
  const auto files = test::files_of(folder_ / ".");
  for (const char* command : kCommands) {
    const auto [status, text] = run_command(command);
    EXPECT_EQ(status, 1) << command;
    EXPECT_EQ(text.find("error: The "), 0U) << command << ": " << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << command << ": " << text;
  }
  EXPECT_TRUE(test::files_of(folder_ / ".") == files) << "something changed";
}

/// Calls `change` in the middle of reading step times, once; how many were read.
template <class Change>
int read_while(const std::filesystem::path& path, const Change& change) {
  bool changed = false;
  return profile::read_snapshot(path, {}, [&](profile::Database& database) {
    int read = 0;
    profile::Statement rows(database, "SELECT data FROM step_timings WHERE replay_id<=5");
    while (rows.step()) {
      if (++read == 2 && !std::exchange(changed, true)) {
        change();
      }
    }
    return read;
  });
}

TEST_F(RefusedFiles, TakenAwayWhileTheyAreRead) {
  EXPECT_EQ(read_while(path_, [&] { std::filesystem::remove(path_); }), 5);
  testing::expect_error(ErrorCode::io, {path(), "there is no such file"},
                        [&] { read_captures(path_); });
}

TEST_F(RefusedFiles, ReplacedWhileTheyAreRead) {
  const auto other = folder_ / "other.db";
  test::write_run(other, {.label = "other", .replays = 2});
  EXPECT_EQ(read_while(path_, [&] { std::filesystem::rename(other, path_); }), 5);
  EXPECT_EQ(read_profile_info(path_).runs.at(0).label, "other");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(RefusedFiles, CutShortWhileTheyAreRead) {
  const std::string error =
      error_of([&] { read_while(path_, [&] { std::filesystem::resize_file(path_, 100); }); });
  EXPECT_TRUE(error == "nothing" || error.find(path()) != std::string::npos) << error;
  EXPECT_EQ(folder_.files(), 1U);
}

/// While it lives, calls `then` before SQLite opens a file, once.
class BeforeOpening {
 public:
  explicit BeforeOpening(std::function<void()> then) {
    then_ = std::move(then);
    real_ = sqlite3_vfs_find(nullptr);
    files_ = *real_;
    files_.zName = "before opening";
    files_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* to, int flags, int* out) {
      if (then_) {
        std::exchange(then_, nullptr)();
      }
      return real_->xOpen(real_, name, to, flags, out);
    };
    sqlite3_vfs_register(&files_, 1);
  }
  BeforeOpening(const BeforeOpening&) = delete;
  BeforeOpening& operator=(const BeforeOpening&) = delete;
  ~BeforeOpening() {
    sqlite3_vfs_unregister(&files_);
    sqlite3_vfs_register(real_, 1);
  }

 private:
  static inline std::function<void()> then_;
  static inline sqlite3_vfs* real_ = nullptr;
  static inline sqlite3_vfs files_{};
};

TEST_F(RefusedFiles, ReplacedBeforeTheyAreOpenedAreReadWithTheirLog) {
  const auto live = folder_ / "live.db", other = folder_ / "other.db";
  test::write_run(live, {.label = "closed"});
  {
    const auto writer = open_profile(live, test::run_info("test", "in the log"));
    for (const char* suffix : {"", "-wal"}) {  // as a writer that was killed leaves them
      std::filesystem::copy_file(live.string() + suffix, other.string() + suffix);
    }
  }
  const BeforeOpening replace([&] {
    std::filesystem::rename(other, path_);
    std::filesystem::rename(other.string() + "-wal", path_.string() + "-wal");
  });
  std::string labels;
  for (const auto& row : run_sql(path_, "SELECT label FROM runs ORDER BY id").rows) {
    labels += std::get<std::string>(row.at(0)) + ";";
  }
  EXPECT_EQ(labels, "closed;in the log;");
}

/// Whatever becomes of its file, a pass has the right results and ends.
class LostFiles : public test::TimedDatabase {
 protected:
  template <class Change>
  void expect_right_after(const Change& change) {
    const test::PassResult result = test::run_pass(path_, change);
    test::expect_right(result);
    EXPECT_EQ(result.health.replays_committed + result.health.replays_dropped, result.replays);
    EXPECT_LE(result.told.size(), 1U);
  }
};

TEST_F(LostFiles, TakenAwayWhileTheyAreWritten) {
  expect_right_after([&] { std::filesystem::remove(path_); });
  EXPECT_TRUE(folder_.empty());
  test::write_run(path_, {.replays = 3});
  EXPECT_EQ(sql(path_, "SELECT replays FROM v_runs"), "3");
  EXPECT_EQ(test::findings(path_), "");
}

TEST_F(LostFiles, ReplacedWhileTheyAreWritten) {
  const auto other = folder_ / "other.db";
  test::write_run(other, {.label = "other", .replays = 2});
  const std::string bytes = test::bytes_of_file(other);
  expect_right_after([&] { std::filesystem::rename(other, path_); });
  EXPECT_TRUE(test::bytes_of_file(path_) == bytes);
  EXPECT_EQ(test::findings(path_), "");
  EXPECT_EQ(sql(path_, "SELECT label, replays FROM v_runs"), "other|2");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(LostFiles, CutShortWhileTheyAreWritten) {
  expect_right_after([&] { std::filesystem::resize_file(path_, 0); });
}

}  // namespace
}  // namespace reprise
