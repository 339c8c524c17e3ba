// A real model with its nodes fused: the bits of the nodes apart, over a prompt and what follows.
#include <cmath>

#include "reprise/graph/execution_plan.h"
#include "samples/llama/generate.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class FusedModel : public ::testing::TestWithParam<std::string> {
 protected:
  /// Logits of a prompt of `rows` tokens, then of `steps` single ones.
  std::vector<std::vector<std::byte>> logits(const PassOptions& passes, std::int64_t rows,
                                             std::size_t steps) {
    const llama::Model model = llama::load_model(device_, file_, 64);
    const StateBlock state(device_, llama::state_layout(2));
    std::vector<std::vector<std::byte>> all;
    const auto finish = [&](GraphSession& s, const Tensor& x) {
      const Tensor y = llama::forward(s, model, x);
      s.output("logits", y);
      s.output("next", llama::choose(s, y));
      FinishResult result = s.finish({.passes = passes});
      // The sums of both halves of a layer, and the keys; on the CPU what reads each norm.
      const std::size_t fused = GetParam() == "cpu" ? 5 : 3;
      EXPECT_EQ(result.graph.plan().fused.size(), passes.fuse ? fused * model.layers.size() : 0);
      all.push_back(result.read<std::byte>("logits"));
      EXPECT_TRUE(std::isfinite(result.read("logits")[0]));
      return result;
    };
    std::vector<std::int32_t> ids(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int32_t>(1 + 37 * i % 256);
    }
    state.set("rows", static_cast<std::int32_t>(rows));
    auto prompt = executor_.begin_recorded({.state = state});
    finish(prompt, get_rows(prompt, model.embedding, prompt.input("ids", {rows}, ids)));
    state.set("rows", 1);
    auto one = executor_.begin_recorded({.state = state});
    FinishResult decode = finish(one, get_rows(one, model.embedding, one.state("token")));
    while (all.size() < 1 + steps) {
      decode.graph.launch();
      all.push_back(decode.graph.read<std::byte>("logits"));
    }
    return all;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  GgufFile file_ = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-q8_0.gguf");
};
INSTANTIATE_TEST_SUITE_P(On, FusedModel, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(FusedModel, HasTheBitsOfTheNodesApart) {
  const auto apart = logits(PassOptions::none(), 21, 5);
  EXPECT_TRUE(logits(PassOptions::exact(), 21, 5) == apart);
}

TEST_P(FusedModel, IsWithinTheToleranceOfTheOpsWithAllFusions) {
  const auto apart = logits(PassOptions::none(), 5, 3);
  const auto fused = logits(PassOptions::approximate(), 5, 3);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    EXPECT_LE(nmse(to_doubles(DType::f32, apart[i]), to_doubles(DType::f32, fused[i])), 1e-9);
  }
}

}  // namespace
}  // namespace reprise::testing
