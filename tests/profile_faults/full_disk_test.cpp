// Disks that are full or cannot be written: passes do not notice, the log is told once, what is
// lost is counted, and the file stays sound.
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "framework/profile/profile_check.h"
#include "framework/profile/profile_reader.h"
#include "tests/profile/sql.h"
#include "tests/profile/timed_replays.h"
#include "tests/profile_faults/child_process.h"
#include "tests/profile_faults/file_state.h"
#include "tests/profile_faults/forward_pass.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::in_child;
using test::run_pass;
using test::sql;
using test::TempFolder;

/// While it lives, no file of this process grows above a size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, action_);
  }

 private:
  rlimit before_{};
  void (*action_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

void expect_takes_another_run(const std::filesystem::path& path) {
  EXPECT_EQ(test::integrity(path), "ok");
  test::expect_right(run_pass(path));
  for (const ProfileFinding& finding : check_profile(path)) {
    EXPECT_TRUE(finding.about == "drops" || finding.about == "runs")
        << finding.about << ": " << finding.message;
  }
}

std::string refusal(const std::filesystem::path& path) {
  try {
    run_pass(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "";
}

TEST(FullDisk, NeverReachesAPass) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 10; ++round) {
    const TempFolder folder;
    const auto path = folder / "profile.db";
    // The log of an open file has about 400 KB: from there on a few commits fit.
    const std::uint64_t bytes = random() % (round % 2 == 0 ? 100'000 : 800'000);
    SCOPED_TRACE(bytes);
    test::PassResult result;
    {
      std::optional<FileSizeLimit> limit;
      result = run_pass(path, [&] { limit.emplace(bytes); });
    }
    test::expect_right(result);
    EXPECT_EQ(result.health.replays_committed + result.health.replays_dropped, result.replays);
    EXPECT_LE(result.told.size(), 1U);
    if (bytes < 100'000) {
      EXPECT_TRUE(result.health.stopped);
      EXPECT_EQ(result.told.size(), 1U);
      EXPECT_EQ(result.health.replays_dropped, result.replays);
    }
    expect_takes_another_run(path);
  }
}

TEST(FullDisk, OfOneMegabyteIsToldOnceAndTheFileHasTheDropsWhenThereIsRoomAgain) {
  in_child([]() -> std::string {
    const TempFolder folder;
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", (folder / ".").c_str(), "tmpfs", 0, "size=1m") != 0) {
      return std::string("no tmpfs can be mounted: ") + std::strerror(errno);
    }
    const auto path = folder / "profile.db";
    std::vector<std::string> told;
    ProfileHealth health;
    {
      const auto sink =
          open_profile(path, {}, [&](LogLevel, std::string_view text) { told.emplace_back(text); });
      sink->device(test::nanosecond_device());
      ReplayRecord replay;
      replay.recording = test::send_recording(*sink, test::GraphMaker({}).make());
      const std::vector<std::uint32_t> state(20'000);
      replay.state = state;
      for (int r = 0; r < 50; ++r) {
        sink->replay(replay);
        sink->flush();
      }
      health = sink->health();
      EXPECT_EQ(mount("none", (folder / ".").c_str(), "tmpfs", MS_REMOUNT, "size=20m"), 0);
    }
    EXPECT_TRUE(health.stopped);
    EXPECT_EQ(told.size(), 1U);
    EXPECT_GT(health.replays_committed, 0U);
    EXPECT_EQ(health.replays_committed + health.replays_dropped, 50U);
    EXPECT_EQ(sql(path, "SELECT count(*) FROM replays"), std::to_string(health.replays_committed));
    EXPECT_EQ(sql(path, "SELECT reason, sum(count) FROM drops WHERE what='replay'"),
              "writer stopped|" + std::to_string(health.replays_dropped));
    EXPECT_EQ(sql(path, "SELECT exit_state FROM runs"), "profiling stopped");
    expect_takes_another_run(path);
    return "";
  });
}

TEST(FullDisk, OfADeviceIsRefused) {
  EXPECT_NE(refusal("/dev/full").find("/dev/full"), std::string::npos);
}

class ReadOnlyFolder : public ::testing::Test {
 protected:
  ReadOnlyFolder() {
    std::filesystem::permissions(folder_ / ".", std::filesystem::perms(0555));
    test::expect_right(run_pass(other_ / "profile.db"));
  }
  ~ReadOnlyFolder() override {
    std::filesystem::permissions(folder_ / ".", std::filesystem::perms(0755));
  }
  /// A user whom permissions concern.
  static void become_nobody() {
    constexpr uid_t kNobody = 65534;
    ASSERT_TRUE(getuid() != 0 || setuid(kNobody) == 0);
  }
  const TempFolder folder_, other_;
};

TEST_F(ReadOnlyFolder, IsRefusedAndTheProgramCanGoOn) {
  in_child([this]() -> std::string {
    become_nobody();
    const auto path = folder_ / "profile.db";
    EXPECT_EQ(refusal(path), "The profiling database (" + path.string() +
                                 ") cannot be created: Permission denied.");
    test::expect_right(run_pass({}));
    EXPECT_TRUE(folder_.empty());
    return "";
  });
}

TEST_F(ReadOnlyFolder, HasFilesThatAreReadButTakeNoRun) {
  const auto path = folder_ / "profile.db";
  std::filesystem::copy_file(other_ / "profile.db", path);
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  const auto before = test::files_of(folder_ / ".");
  in_child([&]() -> std::string {
    become_nobody();
    EXPECT_EQ(read_profile_info(path).runs.size(), 1U);
    EXPECT_EQ(test::findings(path), "");
    EXPECT_NE(refusal(path).find(path.string()), std::string::npos);
    return "";
  });
  EXPECT_EQ(test::files_of(folder_ / "."), before);
}

}  // namespace
}  // namespace reprise
