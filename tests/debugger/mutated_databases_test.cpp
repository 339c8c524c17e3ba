// Databases whose bytes or rows somebody changed, in the whole debugger: every panel is used, and
// the debugger shows what there is or says what is wrong. Under the sanitizers this is the check of
// every view's arithmetic. The base is the demo's capture, which has watched tensors, comparisons
// and events, and that of a GPU, which has code of kernels.
#include <iostream>
#include <set>

#include "tests/debugger/panel_window.h"
#include "tests/debugger/tour.h"
#include "tests/profile/mutated_file.h"
#include "tests/profile/sql.h"
#include "tests/profile_faults/file_state.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

std::string demo_bytes() {
  return test::bytes_of_file(std::filesystem::path(REPRISE_CAPTURED_SOURCES) / "after.db");
}

/// With decisions of passes, of which it has none.
std::string gpu_bytes() {
  const SampleDatabase database;
  EXPECT_EQ(test::sql(database.path(),
                      "INSERT INTO pass_decisions SELECT 2, 'pass '||(idx%2), idx, 'shared', idx, "
                      "idx%3, op, idx*100 FROM nodes WHERE graph_id=2"),
            "");
  return test::bytes_of_file(database.path());
}

class MutatedDatabases : public ::testing::Test {
 protected:
  MutatedDatabases() { std::cout << test::seed_note(seed_) << std::endl; }

  /// Both ways of Diff too, with the base on the other side.
  std::vector<std::size_t> look_at(const std::filesystem::path& path) {
    DebuggerView debugger(path, {REPRISE_CAPTURED_SOURCES});
    debugger.compare_with(base_);
    const std::vector<std::size_t> done = take_tour(host_, debugger);
    shown_ += debugger.workspace().document.capture() == nullptr ? 0 : 1;
    DebuggerView other(base_, {});
    other.compare_with(path);
    EXPECT_TRUE(try_script(host_, other.view(), "click tab/diff\nwait"));
    try_script(host_, other.view(), "click diff/table/row/0");
    return done;
  }

  void mutate(const std::string& bytes, int mutants) {
    test::write_file(base_, bytes);
    const auto path = folder_ / "mutant.db";
    for (int mutant = 0; mutant < mutants && !HasFailure(); ++mutant) {
      for (const char* rest : {"", "-wal", "-shm"}) {
        std::filesystem::remove(path.string() + rest);
      }
      std::string what;
      if (mutant % 2 == 0) {
        test::write_file(path, test::with_changed_bytes(bytes, random_, what));
      } else {
        test::write_file(path, bytes);
        test::make_hostile(path, random_, what);
      }
      SCOPED_TRACE("mutant " + std::to_string(mutant) + ", " + what);
      look_at(path);
    }
    std::cout << mutants << " mutants, of which " << shown_ << " show a capture\n";
    EXPECT_GT(shown_, 0);
  }

  const std::uint64_t seed_ = test::test_seed();
  std::mt19937_64 random_{seed_};
  const test::TempFolder folder_;
  const std::filesystem::path base_ = folder_ / "base.db";
  HeadlessHost host_{{.width = 1200, .height = 700}};
  int shown_ = 0;
};
using LongMutatedDatabases = MutatedDatabases;

TEST_F(MutatedDatabases, AreUsedAsSoundOnesAreInEveryStepOfTheTour) {
  std::set<std::size_t> done;
  for (const std::string& bytes : {demo_bytes(), gpu_bytes()}) {
    test::write_file(base_, bytes);
    const std::vector<std::size_t> here = look_at(base_);
    done.insert(here.begin(), here.end());
  }
  for (std::size_t i = 0; i < tour_steps().size(); ++i) {
    EXPECT_TRUE(done.contains(i)) << tour_steps()[i];
  }
}

TEST_F(MutatedDatabases, OfTheDemoLeaveEveryPanelUsable) { mutate(demo_bytes(), 20); }
TEST_F(MutatedDatabases, OfAGpuLeaveEveryPanelUsable) { mutate(gpu_bytes(), 20); }
TEST_F(LongMutatedDatabases, OfTheDemoLeaveEveryPanelUsableAThousandTimes) {
  mutate(demo_bytes(), 1000);
}
TEST_F(LongMutatedDatabases, OfAGpuLeaveEveryPanelUsableAThousandTimes) {
  mutate(gpu_bytes(), 1000);
}

}  // namespace
}  // namespace reprise::debugger
