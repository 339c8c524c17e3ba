// What the tests of passes share: the sets of passes they try, and random graphs recorded once.
#pragma once
#include "tests/graph/random_graphs.h"

namespace reprise::testing {

struct NamedPasses {
  const char* name;
  PassOptions options;
};
inline constexpr std::array<NamedPasses, 5> kPassSets{{{"dead_nodes", {true, false, false}},
                                                       {"reorder", {false, true, false}},
                                                       {"in_place", {false, false, true}},
                                                       {"fuse", {.fuse = true}},
                                                       {"exact", PassOptions::exact()}}};

/// Calls f(ComputeGraph) for random passes of up to `most_ops` ops, recorded and not run.
template <class F>
void for_random_graphs(int count, std::uint64_t most_ops, F&& f) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const RandomWeights weights(device, rng());
    GraphSession session = executor.begin_recorded({.state = weights.state});
    RandomPass(session, weights, rng()).record(pick(rng, most_ops));
    f(session.finish({.run = false}).graph.graph());
  }
}

}  // namespace reprise::testing
