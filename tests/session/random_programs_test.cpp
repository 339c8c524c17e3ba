// Random programs of API calls against a model of what is documented: docs/states.md.
#include "tests/session/programs/random_program.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kCalls = 30;

void run_programs(std::uint64_t seed, std::size_t programs, const std::function<Device()>& device) {
  std::mt19937_64 rng(seed);
  RandomProgram::Counts counts;
  for (std::size_t i = 0; i < programs; ++i) {
    const std::uint64_t of_program = rng();
    RandomProgram program(device(), of_program);
    try {
      program.run(kCalls);
    } catch (const Surprise& surprise) {
      FAIL() << "program " << i << " of " << seed_note(seed) << "\n" << surprise.what();
    }
    for (const auto& [outcome, count] : program.counts()) {
      counts[outcome] += count;
    }
  }
  for (const auto& [outcome, count] : counts) {
    ::testing::Test::RecordProperty(outcome, std::to_string(count));
  }
}

TEST(RandomPrograms, DoWhatIsDocumentedOnFreshDevices) {
  const std::uint64_t seed = fresh_seed();
  OpenOptions options;
  options.threads = 1;
  run_programs(seed, 9700, [&] { return open_device("cpu", options); });
}

TEST(RandomPrograms, DoWhatIsDocumentedOnVulkan) {
  const ExpectNoValidationMessages quiet;
  const Device device = test_device("vulkan");
  run_programs(fresh_seed(), 300, [&] { return device; });
}

}  // namespace
}  // namespace reprise::testing
