// Commands that write a file and are told to end meanwhile: nothing is left of it.
#include <array>
#include <csignal>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/profile_cli/timed_database.h"

namespace reprise {
namespace {

struct Stopped {
  const char* name;
  int signal;
  std::vector<std::string> words;  // the file goes behind the second
  int scopes = 500'000;            // enough that it is not done before it is told to end
};
const std::array kStopped{Stopped{"Merge", SIGTERM, {"db", "merge", "-o"}},
                          Stopped{"MergeByItsTerminal", SIGHUP, {"db", "merge", "-o"}},
                          Stopped{"Scrub", SIGINT, {"db", "scrub", "-o"}},
                          Stopped{"Export", SIGTERM, {"db", "export", "--perfetto"}, 50'000}};

class StoppedCommands : public test::TimedDatabase, public ::testing::WithParamInterface<Stopped> {
 protected:
  void SetUp() override {
    test::write_run(path_);
    ASSERT_EQ(
        test::sql(path_,
                  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r LIMIT " +
                      std::to_string(GetParam().scopes) +
                      ") "
                      "INSERT INTO scopes(run_id,thread,name,t_start_ns,dur_ns) SELECT 1, 't', "
                      "'scope '||i, i, 1 FROM r"),
        "");
    watch_ = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(watch_, (folder_ / ".").c_str(), IN_CREATE);
  }
  void TearDown() override { close(watch_); }
  pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), REPRISE_PROGRAM);
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    return child;
  }
  /// Until a file is made in the folder.
  void wait_for_a_file() const {
    std::array<char, 4096> events{};
    EXPECT_GT(read(watch_, events.data(), events.size()), 0);
  }

 private:
  int watch_ = -1;
};
INSTANTIATE_TEST_SUITE_P(All, StoppedCommands, ::testing::ValuesIn(kStopped),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(StoppedCommands, LeaveNothingBehind) {
  std::vector<std::string> words = GetParam().words;
  words.insert(words.begin() + 2, path());
  words.push_back(folder_ / "out");
  const pid_t child = start(words);
  wait_for_a_file();
  ASSERT_EQ(kill(child, GetParam().signal), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  EXPECT_EQ(folder_.files(), 1U);
}

}  // namespace
}  // namespace reprise
