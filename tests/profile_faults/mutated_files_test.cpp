// Files whose bytes or rows somebody changed: every reader and command answers or says what is
// wrong, and changes nothing.
#include <iostream>

#include "tests/profile/mutated_file.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_faults/every_reader.h"
#include "tests/profile_faults/file_state.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::TempFolder;

class MutatedFiles : public ::testing::Test {
 protected:
  MutatedFiles() {
    test::write_run(sound_, {.replays = 20});
    test::write_run(sound_, {.label = "second", .replays = 20, .graph = {.scales = 6}});
    bytes_ = test::bytes_of_file(sound_);
  }

  /// Every `rewrites`-th is also merged, scrubbed and pruned.
  void mutate(int mutants, int rewrites) {
    test::Answers answers;
    for (int mutant = 0; mutant < mutants && !HasFatalFailure(); ++mutant) {
      const TempFolder folder;
      const auto path = folder / "mutant.db";
      std::string what;
      if (mutant % 2 == 0) {
        test::write_file(path, test::with_changed_bytes(bytes_, random_, what));
      } else {
        test::write_file(path, bytes_);
        test::make_hostile(path, random_, what);
      }
      SCOPED_TRACE("mutant " + std::to_string(mutant) + ", " + what);
      test::read_everything(path, answers);
      if (mutant % rewrites == 0) {
        test::rewrite_everything(path, sound_, answers);
      }
    }
    std::printf("%d mutants: %d answers, %d errors\n", mutants, answers.answered, answers.refused);
    EXPECT_GT(answers.answered, 0);
    EXPECT_GT(answers.refused, 0);
  }

  const std::uint64_t seed_ = testing::test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, testing::seed_note(seed_)};
  std::mt19937_64 random_{seed_};
  const TempFolder folder_;
  const std::filesystem::path sound_ = folder_ / "sound.db";
  std::string bytes_;
};
using LongMutatedFiles = MutatedFiles;

TEST_F(MutatedFiles, AreReadOrRefusedByEverything) { mutate(40, 5); }
TEST_F(LongMutatedFiles, AreReadOrRefusedByEverythingAThousandTimes) { mutate(1000, 1); }

}  // namespace
}  // namespace reprise
