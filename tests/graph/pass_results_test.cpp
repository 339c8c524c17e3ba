// What passes compute: the bits of a session without them, of random passes and of a real model.
#include "samples/llama/generate.h"
#include "tests/graph/pass_sets.h"

namespace reprise::testing {
namespace {

/// What a pass leaves behind: its outputs and what it wrote, by name.
using Left = std::map<std::string, std::vector<std::byte>>;

class PassResults : public ::testing::TestWithParam<std::string> {
 protected:
  struct Seeds {
    std::uint64_t weights, pass;
    std::size_t ops;
  };
  /// Of two launches of so many iterations.
  Left run(const Seeds& seeds, std::uint32_t iterations, const PassOptions& passes) {
    const RandomWeights weights(device_, seeds.weights);
    GraphSession session =
        executor_.begin_recorded({.state = weights.state, .max_iterations = iterations});
    const auto names =
        RandomPass(session, weights, seeds.pass, iterations == 1).record(seeds.ops);
    CapturedGraph graph = session.finish({.passes = passes}).graph;
    graph.launch({.iterations = iterations});
    Left left = weights.left(device_);
    for (const std::string& name : names) {
      left[name] = graph.read<std::byte>(name);
    }
    return left;
  }
  void expect_equal_bits(int graphs, std::uint32_t iterations) {
    const std::uint64_t seed = fresh_seed();
    SCOPED_TRACE(seed_note(seed));
    Rng rng(seed);
    for (int i = 0; i < graphs && !HasFailure(); ++i) {
      const Seeds seeds{rng(), rng(), static_cast<std::size_t>(pick(rng, 40))};
      const Left plain = run(seeds, iterations, PassOptions::none());
      for (const NamedPasses& passes : kPassSets) {
        EXPECT_TRUE(run(seeds, iterations, passes.options) == plain)
            << passes.name << ", graph " << i;
      }
    }
  }
  bool on_host() const { return GetParam() == "cpu"; }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, PassResults, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(PassResults, AreTheSameBitsAsWithout) { expect_equal_bits(on_host() ? 2000 : 150, 1); }

TEST_P(PassResults, OfSeveralIterationsAreTheSameBitsAsWithout) {
  expect_equal_bits(on_host() ? 500 : 30, 3);
}

}  // namespace
}  // namespace reprise::testing
