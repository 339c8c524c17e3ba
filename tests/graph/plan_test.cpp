// Execution plans of random recorded sessions against brute force over their bindings, for the host
// and for shaders, and against what the same pass computes without a plan.
#include <algorithm>
#include <map>

#include "framework/core/lowering.h"
#include "framework/graph/hazards.h"
#include "framework/graph/make_plan.h"
#include "framework/graph/memory_plan.h"
#include "framework/graph/node_call.h"
#include "framework/session/record/graph_capture.h"
#include "tests/graph/plan_of.h"
#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

/// A device that runs shaders, and one that runs references. Plans need no device.
std::vector<DeviceTraits> all_traits() {
  DeviceTraits host, plain, gpu;
  host.runs_on_host = true;
  gpu.subgroup_size = 32;
  gpu.workgroup_size = 256;
  gpu.shared_bytes = 49152;
  gpu.binding_alignment = 16;
  return {host, plain, gpu};
}

/// One lowering of a graph: the steps on storages of their own, and the plan that shares memory.
struct Lowered {
  const ComputeGraph& graph;
  DeviceTraits traits;
  ReuseRule rule;
  StepList apart;
  ExecutionPlan plan;

  Lowered(const ComputeGraph& of, const DeviceTraits& with, const PlanOptions& options)
      : graph(of), traits(with), rule(options.reuse), plan(plan_of(of, with, options)) {
    for (const std::uint32_t n : running_order(plan)) {
      lower(NodeCall(graph, n).call(), traits, apart);
    }
  }
  bool transient(std::uint32_t storage) const { return !graph.storages[storage].is_persistent(); }
};

std::vector<Touches> touches(const StepList& steps) {
  std::vector<Touches> all(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const Binding& b : steps.bindings(steps[s])) {
      all[s].push_back({{b.pool, b.offset, b.offset + b.bytes}, b.access});
    }
  }
  return all;
}

/// Calls f(Lowered) for every traits and rule of random graphs, as recorded and in a better order;
/// there, results lie in place of operands if that is asked for.
template <class F>
void for_random_plans(F&& f, int graphs = 30, std::uint64_t most_ops = 100, bool in_place = false) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  for (int i = 0; i < graphs && !::testing::Test::HasFailure(); ++i) {
    const RandomWeights weights(device, rng());
    GraphSession session = executor.begin_recorded({.state = weights.state});
    RandomPass(session, weights, rng()).record(pick(rng, most_ops));
    const CapturedGraph graph = session.finish().graph;
    for (const DeviceTraits& traits : all_traits()) {
      for (const ReuseRule rule : {ReuseRule::step, ReuseRule::epoch}) {
        for (const bool passes : {false, true}) {
          f(Lowered(graph.graph(), traits, {rule, {passes, passes, passes && in_place}}));
        }
      }
    }
  }
}

TEST(Plan, BarriersCoverEveryHazardOfTheSharedMemory) {
  for_random_plans([](const Lowered& l) {
    EXPECT_EQ(BarrierOracle(touches(l.plan.steps)).uncovered(l.plan.barriers), 0U);
  });
}

TEST(Plan, RemovingAnyBarrierUncoversAHazard) {
  for_random_plans([](const Lowered& l) {
    EXPECT_EQ(BarrierOracle(touches(l.plan.steps)).removable(l.plan.barriers), 0U);
  });
}

TEST(Plan, BarriersNameAnAccessOfTheirStepAndAStepItWaitsFor) {
  for_random_plans([](const Lowered& l) {
    const std::vector<Touches> all = touches(l.plan.steps);
    for (const Barrier& barrier : l.plan.barriers) {
      const Range& r = barrier.range;
      EXPECT_TRUE(std::ranges::any_of(all[barrier.before_step], [&](const Touch& t) {
        return t.range.buffer == r.buffer && t.range.begin == r.begin && t.range.end == r.end &&
               (barrier.kind == HazardKind::raw ? reads(t.access) : writes(t.access));
      }));
      EXPECT_TRUE(std::ranges::any_of(all[barrier.cause_src], [&](const Touch& t) {
        return t.range.buffer == r.buffer && t.range.begin < r.end && r.begin < t.range.end &&
               (barrier.kind == HazardKind::war ? reads(t.access) : writes(t.access));
      }));
    }
  });
}

TEST(Plan, NoSmallerSetOfBarriersIsEnough) {
  for_random_plans([](const Lowered& l) {
    EXPECT_EQ(l.plan.barriers.size(), BarrierOracle(touches(l.plan.steps)).min());
  });
}

TEST(Plan, ReuseByEpochNeedsNoMoreBarriersThanUnsharedStorage) {
  for_random_plans([](const Lowered& l) {
    if (l.rule == ReuseRule::epoch) {
      EXPECT_EQ(l.plan.barriers.size(), BarrierOracle(touches(l.apart)).min());
    }
  });
}

/// First and last step of every transient storage, inputs and outputs as Storage describes
/// them.
std::map<std::uint32_t, Lifetime> lifetimes(const Lowered& l) {
  std::map<std::uint32_t, Lifetime> alive;
  for (std::uint32_t s = 0; s < l.apart.size(); ++s) {
    for (const Binding& b : l.apart.bindings(l.apart[s])) {
      if (b.bytes != 0 && l.transient(b.pool)) {
        alive.try_emplace(b.pool, Lifetime{l.graph.storages[b.pool].bytes, s, s})
            .first->second.last = s;
      }
    }
  }
  const auto end = static_cast<std::uint32_t>(l.apart.size());
  for (std::uint32_t i = 0; i < l.graph.storages.size(); ++i) {
    const Storage& storage = l.graph.storages[i];
    if (l.transient(i) && (storage.input || storage.output)) {
      Lifetime& lifetime = alive.try_emplace(i, Lifetime{storage.bytes, end, end}).first->second;
      lifetime.first = storage.input ? 0 : lifetime.first;
      lifetime.last = end;
    }
  }
  return alive;
}

TEST(Plan, NoTwoLiveStoragesOverlap) {
  for_random_plans([](const Lowered& l) {
    const auto alive = lifetimes(l);
    for (const auto& [a, la] : alive) {
      for (const auto& [b, lb] : alive) {
        const std::uint64_t at_a = l.plan.places[a].offset, at_b = l.plan.places[b].offset;
        const bool together = a < b && la.first <= lb.last && lb.first <= la.last;
        EXPECT_FALSE(together && std::max(at_a, at_b) < std::min(at_a + la.bytes, at_b + lb.bytes))
            << a << " and " << b;
      }
    }
  });
}

TEST(Plan, TheArenaIsBetweenTheLivePeakAndNoReuse) {
  for_random_plans([](const Lowered& l) {
    std::vector<Lifetime> all;
    std::uint64_t naive = 0;
    for (const auto& [storage, lifetime] : lifetimes(l)) {
      all.push_back(lifetime);
      naive += (lifetime.bytes + kStorageAlignment - 1) / kStorageAlignment * kStorageAlignment;
    }
    EXPECT_EQ(l.plan.live_peak_bytes, live_peak(all));
    EXPECT_EQ(l.plan.naive_bytes, naive);
    EXPECT_GE(l.plan.arena_bytes, l.plan.live_peak_bytes);
    EXPECT_LE(l.plan.arena_bytes, naive);
  });
}

TEST(Plan, BindingsAreThoseOfTheStoragesMovedToTheirPlaces) {
  for_random_plans([](const Lowered& l) {
    ASSERT_EQ(l.plan.steps.size(), l.apart.size());
    for (std::size_t s = 0; s < l.apart.size(); ++s) {
      const auto moved = l.plan.steps.bindings(l.plan.steps[s]);
      const auto original = l.apart.bindings(l.apart[s]);
      ASSERT_EQ(moved.size(), original.size());
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const Place& place = l.plan.places[original[i].pool];
        EXPECT_EQ(moved[i].bytes, original[i].bytes);
        EXPECT_EQ(moved[i].access, original[i].access);
        if (moved[i].bytes != 0) {
          EXPECT_EQ(moved[i].pool, place.pool);
          EXPECT_EQ(moved[i].offset, place.offset + original[i].offset);
        }
      }
    }
  });
}

TEST(Plan, BindingsLieInsideTheirPools) {
  for_random_plans([](const Lowered& l) {
    for (std::size_t s = 0; s < l.plan.steps.size(); ++s) {
      for (const Binding& b : l.plan.steps.bindings(l.plan.steps[s])) {
        ASSERT_LT(b.pool, l.plan.pools.size());
        EXPECT_TRUE(b.bytes == 0 || b.offset + b.bytes <= l.plan.pools[b.pool].bytes);
      }
    }
  });
}

TEST(Plan, BindingsCoverEveryElementOfTheirTensors) {
  for_random_plans([](const Lowered& l) {
    for (std::size_t s = 0; s < l.apart.size(); ++s) {
      const NodeCall node(l.graph, l.apart[s].node);
      const auto bindings = l.apart.bindings(l.apart[s]);
      const auto tensors = node.call().tensors;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] && tensors[i].shape().elements() != 0) {
          EXPECT_EQ(bindings[i].pool, tensors[i].storage);
          EXPECT_LE(bindings[i].offset, tensors[i].offset);
          EXPECT_GE(bindings[i].offset + bindings[i].bytes,
                    tensors[i].offset + tensors[i].spec->span_bytes());
        }
      }
    }
  });
}

TEST(Plan, BindingsOfShadersAreAlignedAndNotEmpty) {
  for_random_plans([](const Lowered& l) {
    for (std::size_t s = 0; s < l.plan.steps.size(); ++s) {
      for (const Binding& b : l.plan.steps.bindings(l.plan.steps[s])) {
        if (l.plan.steps[s].kind == StepKind::dispatch) {
          EXPECT_EQ(b.offset % l.traits.binding_alignment, 0U);
          EXPECT_GT(b.bytes, 0U);
        }
      }
    }
  });
}

TEST(Plan, PoolZeroIsTheArenaAndTheOthersAreBuffers) {
  for_random_plans([](const Lowered& l) {
    ASSERT_FALSE(l.plan.pools.empty());
    EXPECT_EQ(l.plan.pools[0].kind, "arena");
    EXPECT_EQ(l.plan.pools[0].bytes, l.plan.arena_bytes);
    std::size_t persistent = 0;
    for (std::uint32_t i = 0; i < l.graph.storages.size(); ++i) {
      persistent += l.transient(i) ? 0U : 1U;
      EXPECT_EQ(l.plan.pools[l.plan.places[i].pool].storage, l.transient(i) ? kNoIndex : i);
    }
    EXPECT_EQ(l.plan.pools.size(), 1 + persistent);
  });
}

/// Memory whose bytes remember which step wrote them last; 0: nobody. Stores by pool and byte.
class TokenMemory {
 public:
  void write(std::uint32_t pool, std::uint64_t begin, std::uint64_t bytes, std::size_t token) {
    for (std::uint64_t b = begin; b < begin + bytes; ++b) {
      tokens_[{pool, b}] = token;
    }
  }
  std::size_t at(std::uint32_t pool, std::uint64_t byte) const {
    const auto known = tokens_.find({pool, byte});
    return known == tokens_.end() ? 0 : known->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> tokens_;
};

/// Runs the steps on storages of their own and on the shared memory, and compares what is read.
class TokenRun {
 public:
  explicit TokenRun(const Lowered& l) : l_(l) {}
  std::size_t wrong_bytes() {
    for (std::uint32_t i = 0; i < l_.graph.storages.size(); ++i) {
      if (l_.graph.storages[i].input) {
        write({i, Access::write, BindingType::storage, 0, l_.graph.storages[i].bytes},
              1'000'000 + i);
      }
    }
    for (std::size_t s = 0; s < l_.apart.size(); ++s) {
      for (const Binding& b : l_.apart.bindings(l_.apart[s])) {
        if (reads(b.access)) {
          compare(b.pool, b.offset, b.bytes);
        }
      }
      for (const Binding& b : l_.apart.bindings(l_.apart[s])) {
        if (writes(b.access)) {
          write(b, s + 1);
        }
      }
    }
    for (std::uint32_t i = 0; i < l_.graph.storages.size(); ++i) {
      if (l_.graph.storages[i].output) {
        compare(i, 0, l_.graph.storages[i].bytes);
      }
    }
    return wrong_;
  }

 private:
  void write(const Binding& b, std::size_t token) {
    const Place& place = l_.plan.places[b.pool];
    apart_.write(b.pool, b.offset, b.bytes, token);
    shared_.write(place.pool, place.offset + b.offset, b.bytes, token);
  }
  void compare(std::uint32_t storage, std::uint64_t begin, std::uint64_t bytes) {
    const Place& place = l_.plan.places[storage];
    for (std::uint64_t b = begin; b < begin + bytes; ++b) {
      const std::size_t wanted = apart_.at(storage, b);
      wrong_ += wanted != 0 && shared_.at(place.pool, place.offset + b) != wanted ? 1U : 0U;
    }
  }
  const Lowered& l_;
  TokenMemory apart_, shared_;
  std::size_t wrong_ = 0;
};

TEST(Plan, EveryReadFindsWhatUnsharedStorageWouldHold) {
  for_random_plans([](const Lowered& l) { EXPECT_EQ(TokenRun(l).wrong_bytes(), 0U); }, 4, 50, true);
}

/// What a pass leaves behind: its outputs by name, and the table.
using Values = std::map<std::string, std::vector<std::byte>>;

struct Seeds {
  std::uint64_t weights, pass;
  std::size_t ops;
};

class PlanResults : public ::testing::Test {
 protected:
  Values direct(const Seeds& seeds) {
    const RandomWeights weights(device_, seeds.weights);
    GraphSession session = executor_.begin({.state = weights.state});
    const auto names = RandomPass(session, weights, seeds.pass).record(seeds.ops);
    return values(session.finish(), names, weights);
  }
  /// After finish and after `launches` more.
  Values recorded(const Seeds& seeds, ReuseRule rule, int launches = 0) {
    const RandomWeights weights(device_, seeds.weights);
    GraphSession session = executor_.begin_recorded({.state = weights.state});
    const auto names = RandomPass(session, weights, seeds.pass).record(seeds.ops);
    FinishResult result = session.finish({.reuse = rule});
    for (int i = 0; i < launches; ++i) {
      result.graph.launch();
    }
    return launches == 0 ? values(result, names, weights) : values(result.graph, names, weights);
  }
  template <class F>
  void for_random_passes(F&& f) {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    Rng rng(seed);
    for (int i = 0; i < 40 && !HasFailure(); ++i) {
      f(Seeds{rng(), rng(), static_cast<std::size_t>(pick(rng, 80))});
    }
  }

 private:
  template <class Source>
  Values values(const Source& source, const std::vector<std::string>& names,
                const RandomWeights& weights) {
    Values all{{"table", device_.to_host(weights.table)}};
    for (const std::string& name : names) {
      all[name] = source.template read<std::byte>(name);
    }
    return all;
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(PlanResults, ReuseByEpochComputesWhatADirectSessionComputes) {
  for_random_passes(
      [&](const Seeds& seeds) { EXPECT_TRUE(recorded(seeds, ReuseRule::epoch) == direct(seeds)); });
}

TEST_F(PlanResults, ReuseByStepComputesWhatADirectSessionComputes) {
  for_random_passes(
      [&](const Seeds& seeds) { EXPECT_TRUE(recorded(seeds, ReuseRule::step) == direct(seeds)); });
}

TEST_F(PlanResults, BothRulesComputeTheSameAfterSeveralLaunches) {
  for_random_passes([&](const Seeds& seeds) {
    EXPECT_TRUE(recorded(seeds, ReuseRule::step, 2) == recorded(seeds, ReuseRule::epoch, 2));
  });
}

TEST(Plan, OfAnEmptyGraphHasNoStepsAndNoArena) {
  const ExecutionPlan plan = plan_of(ComputeGraph());
  EXPECT_EQ(plan.steps.size(), 0U);
  EXPECT_TRUE(plan.barriers.empty());
  EXPECT_EQ(plan.arena_bytes, 0U);
  EXPECT_EQ(plan.pools.size(), 1U);
}

TEST(Plan, ABindingAboveTheLimitOfTheDeviceIsAnError) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  GraphSession session = executor.begin_recorded();
  const std::vector<float> values(64, 1.0F);
  const Tensor x = session.input("x", {64}, values);
  session.output("y", add(session, x, x));
  const CapturedGraph graph = session.finish().graph;
  DeviceTraits traits;
  traits.max_binding_bytes = 255;
  expect_error(ErrorCode::unsupported, {"add", "(256)", "255", "x"},
               [&] { (void)plan_of(graph.graph(), traits); });
  traits.max_binding_bytes = 256;
  EXPECT_EQ(plan_of(graph.graph(), traits).steps.size(), 1U);
}

TEST(Plan, OfTransientsThatNoMemoryHoldsIsAnError) {
  GraphCapture capture("large", 1);
  for (int i = 0; i < 64; ++i) {
    capture.add_input("x" + std::to_string(i),
                      TensorSpec(Shape({std::int64_t{1} << 56U}), DType::f32));
  }
  expect_error(ErrorCode::out_of_memory, {"'large'", "take", "4611686018427387904"},
               [&] { (void)plan_of(capture.graph()); });
}

}  // namespace
}  // namespace reprise::testing
