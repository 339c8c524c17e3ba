// A device that has room for a few of the experts says what one says that has them all.
#include "samples/llama/expert_generation.h"

#include "tests/samples/random_models.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kContext = 100;
constexpr std::size_t kCount = 16;

class ExpertBudget : public ::testing::TestWithParam<std::string> {
 protected:
  using Ids = std::vector<std::int32_t>;

  llama::Model model(const std::string& name, llama::ExpertWeights experts) const {
    return llama::load_model(device_, random_model(name), kContext, {.experts = experts});
  }
  /// Room for so many experts of each layer.
  static std::uint64_t budget(const llama::Model& model, std::uint64_t cells) {
    std::uint64_t bytes = 0;
    for (const ExpertStore::Layer& layer : model.expert_store.layers()) {
      bytes += cells * layer.expert_bytes();
    }
    return bytes;
  }
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(On, ExpertBudget, ::testing::Values("cpu", "vulkan"), device_param_name);

// Prompts are fixed: a bucket of rows sums in another order than one row, and of fresh ones some
// would have two tokens that are as likely but for rounding.
TEST_P(ExpertBudget, OfAnySizeSaysWhatAllExpertsSay) {
  const Ids prompt{1, 259, 267, 264, 271, 80, 12};
  const auto none = [](std::int32_t) {};
  for (const char* name : {"mixtral-f32", "qwen3moe-q8_0"}) {
    const llama::Request request{.prompt = prompt, .count = kCount, .context = kContext};
    const Ids expected =
        llama::generate(executor_, model(name, llama::ExpertWeights::on_device), request, none).ids;
    const llama::Model some = model(name, llama::ExpertWeights::in_store);
    for (const std::uint64_t cells : {1U, 2U, 4U, 6U}) {
      SCOPED_TRACE(std::string(name) + " with cells for " + std::to_string(cells));
      const llama::ExpertGeneration result =
          generate_with_experts(executor_, some, request, budget(some, cells), none);
      EXPECT_EQ(result.ids, expected);
      EXPECT_EQ(result.cells, static_cast<std::int64_t>(cells));
      EXPECT_EQ(result.layers.size(), some.layers.size());
      for (const ExpertStats& layer : result.layers) {
        EXPECT_EQ(layer.misses > 0, cells < 6) << layer.layer;
      }
    }
  }
}

TEST_P(ExpertBudget, DrawsBehindALongPromptWhatAllExpertsDraw) {
  const Ids prompt = random_tokens(5, 80, 256);  // two runs; more than the recent tokens
  const auto none = [](std::int32_t) {};
  const llama::Request request{
      .prompt = prompt,
      .count = kCount,
      .context = kContext,
      .sampling = {.temperature = 1, .top_k = 20, .repeat_penalty = 1.3F, .seed = 3}};
  const llama::Model some = model("mixtral-f32", llama::ExpertWeights::in_store);
  EXPECT_EQ(generate_with_experts(executor_, some, request, budget(some, 2), none).ids,
            llama::generate(executor_, model("mixtral-f32", llama::ExpertWeights::on_device),
                            request, none)
                .ids);
}

TEST_P(ExpertBudget, LeavesTheWeightsOfExpertsOnTheHost) {
  const llama::Model some = model("mixtral-q8_0", llama::ExpertWeights::in_store);
  const llama::Model all = model("mixtral-q8_0", llama::ExpertWeights::on_device);
  EXPECT_EQ(some.weight_bytes.all, all.weight_bytes.all);
  EXPECT_EQ(some.weight_bytes.experts, budget(some, 6));
  // A device that imports no memory of the host has nothing in place.
  EXPECT_EQ(all.weight_bytes.in_place - some.weight_bytes.in_place,
            all.weight_bytes.in_place == 0 ? 0 : budget(some, 6));
  EXPECT_FALSE(some.layers[0].experts.gate);
}

TEST_P(ExpertBudget, WithoutRoomForOneExpertIsRefused) {
  const Ids prompt{1, 259};
  const llama::Model some = model("mixtral-f32", llama::ExpertWeights::in_store);
  expect_error(ErrorCode::out_of_memory, {std::to_string(budget(some, 1))}, [&] {
    (void)generate_with_experts(executor_, some,
                                {.prompt = prompt, .count = 1, .context = kContext},
                                budget(some, 1) - 1, [](std::int32_t) {});
  });
}

TEST_P(ExpertBudget, OfAModelWithoutExpertsIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"has (0) of them"},
               [&] { (void)model("llama-f32", llama::ExpertWeights::in_store); });
}

}  // namespace
}  // namespace reprise::testing
