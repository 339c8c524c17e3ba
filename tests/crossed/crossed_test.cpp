// Random programs that cross the features of the library: each is run in a way of its own, and
// leaves what an interpreter in double precision says it means, and the bits of direct sessions.
#include <chrono>

#include "tests/crossed/campaign.h"
#include "tests/crossed/devices.h"
#include "tests/testing.h"

namespace reprise::crossed {
namespace {

using testing::ExpectNoValidationMessages;
using testing::seed_note;
using testing::test_seed;

/// REPRISE_CROSSED_PROGRAMS in the place of a number of programs.
std::size_t programs(std::size_t usual) {
  const char* const given = std::getenv("REPRISE_CROSSED_PROGRAMS");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

/// Leaves out the kernels that this machine's device cannot run.
std::vector<Where> runnable(std::vector<Where> where, bool validated) {
  std::erase_if(where, [&](Where w) {
    try {
      (void)device_for({.where = w}, validated);
      return false;
    } catch (const Error& e) {
      return e.code() == ErrorCode::unsupported;
    }
  });
  return where;
}

/// Bits alone and wide tolerances find little. Of 84 programs on the CPU, 7 had the first and 13
/// the second. The shares of few programs say nothing.
void expect_most_decided(const Report& report) {
  if (report.programs < 100) {
    return;
  }
  std::size_t undecided = 0;
  for (const auto& [reason, count] : report.undecided) {
    undecided += count;
  }
  EXPECT_LE(4 * undecided, report.programs) << "programs were compared by bits alone";
  EXPECT_LE(2 * report.loose, report.programs) << "programs were compared within 1 % or more";
}

Report expect_no_difference(Campaign campaign) {
  campaign.where = runnable(std::move(campaign.where), campaign.validated);
  const ExpectNoValidationMessages quiet;
  campaign.seed = test_seed();
  Report report = run(campaign);
  ::testing::Test::RecordProperty("programs", report.summary());
  std::printf("%s\n", report.summary().c_str());
  if (!report.failure.empty()) {
    ADD_FAILURE() << seed_note(campaign.seed) << ": " << report.failure;
  } else {
    expect_most_decided(report);
  }
  return report;
}

void expect_all_pairs(const PairTable& pairs) {
  for (const std::string& pair : pairs.never_met()) {
    ADD_FAILURE() << "never met: " << pair;
  }
  for (const std::string& pair : pairs.met_against_reason()) {
    ADD_FAILURE() << "met: " << pair;
  }
}

const std::vector<Where> kAll{Where::cpu, Where::cpu,   Where::cpu,      Where::cpu,
                              Where::cpu, Where::lanes, Where::portable, Where::gpu};
const std::vector<Where> kFamilies{Where::portable, Where::lanes, Where::gpu};

TEST(CrossedPrograms, MeanTheSameInEveryWayOnEveryDevice) {
  const Report report = expect_no_difference(
      {.programs = programs(200), .where = kAll, .validated = true, .candidates = 64});
  if (report.failure.empty() && runnable(kFamilies, true) == kFamilies) {
    expect_all_pairs(report.pairs);
  }
}

TEST(LongCrossedPrograms, MeanTheSameOnTheCpu) {
  expect_no_difference({.programs = programs(100000), .where = {Where::cpu}});
}

TEST(LongCrossedPrograms, MeanTheSameOnVulkan) {
  expect_no_difference({.programs = programs(9000), .where = kFamilies});
}

TEST(LongCrossedPrograms, MeanTheSameOnVulkanUnderTheValidationLayer) {
  expect_no_difference({.programs = programs(1000), .where = kFamilies, .validated = true});
}

/// The one that REPRISE_CROSSED_PROGRAM names: "lanes:4711".
TEST(CrossedProgram, OfAReportFailsAgain) {
  const char* const given = std::getenv("REPRISE_CROSSED_PROGRAM");
  if (given == nullptr) {
    GTEST_SKIP() << "runs the program of REPRISE_CROSSED_PROGRAM, cpu:1234 for instance";
  }
  const std::string text = given, where = text.substr(0, text.find(':'));
  const std::map<std::string, Where> places{{"cpu", Where::cpu},
                                            {"portable", Where::portable},
                                            {"lanes", Where::lanes},
                                            {"gpu", Where::gpu}};
  const std::uint64_t seed = std::stoull(text.substr(text.find(':') + 1));
  EXPECT_EQ(run_one(seed, places.at(where), true), "");
}

}  // namespace
}  // namespace reprise::crossed
