// Commands that rewrite files whose calls of files fail, or that are killed or stopped by them:
// what they publish is whole, what they leave goes with the next command, and errors say what was
// done.
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "framework/profile/profile_rewrite.h"
#include "reprise/core/error.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_faults/injector.h"

namespace reprise {
namespace {

using test::Later;
using test::sql;

constexpr const char* kRows = "SELECT count(*) FROM replays; SELECT count(*) FROM nodes";

class RewriteFaults : public test::TimedDatabase {
 protected:
  RewriteFaults() { test::write_run(path_); }
  void merge() const { merge_profiles(std::span(&path_, 1), out_); }
  const std::filesystem::path out_ = folder_ / "out.db";
};

TEST_F(RewriteFaults, NeverPublishLessThanTheWholeFile) {
  constexpr std::uint64_t kLast = 60;  // the calls that end the database, and some before
  test::failing_files().arm(0, Later::works);
  merge();
  const std::uint64_t calls = test::failing_files().calls();
  test::failing_files().disarm();
  const std::string rows = sql(out_, kRows);
  ASSERT_GT(calls, kLast);
  int published = 0;
  for (std::uint64_t k = calls - kLast; k <= calls; ++k) {
    SCOPED_TRACE(k);
    std::filesystem::remove(out_);
    test::failing_files().arm(k, Later::fails);
    try {
      merge();
    } catch (const Error&) {
      EXPECT_FALSE(std::filesystem::exists(out_));
    }
    test::failing_files().disarm();
    if (std::filesystem::exists(out_)) {
      EXPECT_EQ(sql(out_, kRows), rows);
      ++published;
    }
  }
  EXPECT_GT(published, 0);
}

TEST_F(RewriteFaults, WhatAKilledCommandLeftGoesWithTheNext) {
  int killed = 0;
  for (std::uint64_t k = 30;; k += 40) {
    SCOPED_TRACE(k);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      test::failing_files().arm(k, Later::dies);
      merge();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    std::filesystem::remove(out_);
    merge();
    EXPECT_EQ(folder_.files(), 2U);
    std::filesystem::remove(out_);
    if (WIFEXITED(status)) {
      break;
    }
    ++killed;
  }
  EXPECT_GT(killed, 3);
}

/// While it lives, every connection that is opened asks `source` to stop when it begins a VACUUM.
class StopAtVacuum {
 public:
  StopAtVacuum() {
    source = {};
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
  }
  StopAtVacuum(const StopAtVacuum&) = delete;
  StopAtVacuum& operator=(const StopAtVacuum&) = delete;
  ~StopAtVacuum() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch)); }
  static inline std::stop_source source;

 private:
  static int watch(sqlite3* db, char**, const void*) {
    const auto begins = [](unsigned, void*, void*, void* text) {
      if (std::string_view(static_cast<const char*>(text)) == "VACUUM") {
        source.request_stop();
      }
      return 0;
    };
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, begins, nullptr);
  }
};

TEST_F(RewriteFaults, AStoppedVacuumSaysThatTheRowsAreRemoved) {
  ASSERT_EQ(sql(path_,
                "CREATE TABLE notes(t); WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM "
                "r LIMIT 20000) INSERT INTO notes SELECT i FROM r"),
            "");
  const StopAtVacuum stop;
  EXPECT_EQ(test::error_of([&] {
              prune_profile(path_, {.keep_replays = 1, .vacuum = true}, stop.source.get_token());
            }),
            "The rows are removed; the space could not be given back: it was interrupted.");
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM replays"), "1");
}

}  // namespace
}  // namespace reprise
