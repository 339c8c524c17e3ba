// What passes compute: the bits of a session without them, of random passes and of a real model.
#include "samples/llama/forward.h"
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
    const auto names = RandomPass(session, weights, seeds.pass, iterations == 1).record(seeds.ops);
    CapturedGraph graph = session.finish({.passes = passes}).graph;
    graph.launch({.iterations = iterations});
    Left left = weights.left(device_);
    for (const std::string& name : names) {
      left[name] = graph.read<std::byte>(name);
    }
    return left;
  }
  /// With all passes, and with each of them alone: in turn if that takes long.
  void expect_equal_bits(int graphs, std::uint32_t iterations) {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    Rng rng(seed);
    for (int i = 0; i < graphs && !HasFailure(); ++i) {
      const Seeds seeds{rng(), rng(), static_cast<std::size_t>(pick(rng, 40))};
      const Left plain = run(seeds, iterations, PassOptions::none());
      for (std::size_t p = 0; p < kPassSets.size(); ++p) {
        const std::size_t alone = kPassSets.size() - 1;  // the last one is all of them
        if (on_host() || p == alone || p == static_cast<std::size_t>(i) % alone) {
          EXPECT_TRUE(run(seeds, iterations, kPassSets[p].options) == plain)
              << kPassSets[p].name << ", graph " << i;
        }
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

using DeviceAndFormat = std::tuple<std::string, std::string>;

class PassesOfAModel : public ::testing::TestWithParam<DeviceAndFormat> {
 protected:
  /// Logits and tokens of a prompt and four steps, and the caches they leave.
  Left generate(const PassOptions& passes) {
    const llama::Model model = llama::load_model(device_, file_, 64);
    const StateBlock state(device_, llama::state_layout(2, 64));
    const auto finish = [&](auto embed) {
      GraphSession s = executor_.begin_recorded({.state = state});
      const Tensor y = llama::forward(s, model, embed(s));
      s.output("logits", y);
      s.output("next", llama::choose(s, y));
      return s.finish({.passes = passes, .run = false}).graph;
    };
    Left left;
    const auto launch = [&](CapturedGraph& graph, const std::string& name) {
      graph.launch();
      for (const char* output : {"logits", "next"}) {
        left[name + " " + output] = graph.read<std::byte>(output);
      }
    };
    const std::vector<std::int32_t> prompt{1, 421, 340, 396};
    state.set("rows", static_cast<std::int32_t>(prompt.size()));
    CapturedGraph prefill = finish([&](GraphSession& s) {
      const auto rows = static_cast<std::int64_t>(prompt.size());
      return get_rows(s, model.embedding, s.input("ids", {rows}, prompt));
    });
    launch(prefill, "prefill");
    state.set("rows", 1);
    CapturedGraph decode =
        finish([&](GraphSession& s) { return get_rows(s, model.embedding, s.state("token")); });
    for (int i = 0; i < 4; ++i) {
      launch(decode, "step " + std::to_string(i));
    }
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      left["keys " + std::to_string(i)] = device_.to_host(model.layers[i].k_cache);
      left["values " + std::to_string(i)] = device_.to_host(model.layers[i].v_cache);
    }
    return left;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(std::get<0>(GetParam()));
  GraphExecutor executor_{device_};
  GgufFile file_ = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" +
                                  std::get<1>(GetParam()) + ".gguf");
};
INSTANTIATE_TEST_SUITE_P(On, PassesOfAModel,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::Values("f16", "q8_0")),
                         [](const ::testing::TestParamInfo<DeviceAndFormat>& p) {
                           return std::get<0>(p.param) + "_" + std::get<1>(p.param);
                         });

TEST_P(PassesOfAModel, LeaveTheSameBitsAsWithout) {
  const Left plain = generate(PassOptions::none());
  for (const NamedPasses& passes : kPassSets) {
    EXPECT_TRUE(generate(passes.options) == plain) << passes.name;
  }
}

}  // namespace
}  // namespace reprise::testing
