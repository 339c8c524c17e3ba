// Random programs of API calls against a model of what is documented: docs/states.md.
#include "tests/session/programs/random_program.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kCalls = 30;

RandomProgram::Counts run_programs(std::uint64_t seed, std::size_t programs,
                                   const std::function<Device(bool replays)>& device) {
  std::mt19937_64 rng(seed);
  RandomProgram::Counts counts;
  for (std::size_t i = 0; i < programs; ++i) {
    const std::uint64_t of_program = rng();
    const bool replays = i % 16 != 15;
    RandomProgram program(device(replays), replays, of_program);
    try {
      program.run(kCalls);
    } catch (const Surprise& surprise) {
      ADD_FAILURE() << "program " << i << " of " << seed_note(seed) << "\n" << surprise.what();
      return {};
    }
    for (const auto& [outcome, count] : program.counts()) {
      counts[outcome] += count;
    }
  }
  for (const auto& [outcome, count] : counts) {
    ::testing::Test::RecordProperty(outcome, std::to_string(count));
  }
  return counts;
}

/// Calls that never succeed, and keyed runs that never end in one of their ways, test nothing.
void expect_all_outcomes(const RandomProgram::Counts& counts) {
  for (const auto& [outcome, count] : counts) {
    const std::string kind = outcome.substr(0, outcome.find(": ") + 2);
    const bool never = kind == "recorded.submit: " || kind == "capture.submit: ";
    EXPECT_TRUE(never || outcome.find(" -> ") != std::string::npos || counts.contains(kind + "ok"))
        << kind;
  }
  for (const char* outcome : {
           "end_graph_capture -> kept",
           "end_graph_capture -> rejected",
           "end_graph_capture -> another structure",
           "replay_graph -> none",
           "replay_graph -> absent",
           "replay_graph -> evicted",
           "replay_graph -> reset",
           "replay_graph -> stale",
           "replay_graph -> rejected",
           "replay_graph -> busy",
           "run -> replayed, none",
           "run -> recorded, absent",
           "run -> recorded, evicted",
           "run -> recorded, reset",
           "run -> recorded, stale",
           "run -> recorded, rejected",
           "run -> direct, failed",
           "run -> direct, busy",
           "run -> another structure",
           "run -> another state block",
       }) {
    EXPECT_TRUE(counts.contains(outcome)) << outcome;
  }
}

TEST(RandomPrograms, DoWhatIsDocumentedOnFreshDevices) {
  const std::uint64_t seed = test_seed();
  OpenOptions options;
  options.threads = 1;
  const auto counts = run_programs(seed, 9850, [&](bool replays) {
    return replays ? open_device("cpu", options) : test_device_without_replay("cpu");
  });
  if (!HasFailure()) {
    expect_all_outcomes(counts);
  }
}

TEST(RandomPrograms, DoWhatIsDocumentedOnVulkan) {
  const ExpectNoValidationMessages quiet;
  const Device device = test_device("vulkan");
  run_programs(test_seed(), 150, [&](bool replays) {
    return replays ? device : test_device_without_replay("vulkan");
  });
}

}  // namespace
}  // namespace reprise::testing
