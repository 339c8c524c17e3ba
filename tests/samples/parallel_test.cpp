// Several sequences in one batch say what each says alone.
#include "samples/llama/parallel.h"

#include "tests/samples/random_models.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kContext = 40;
constexpr std::int32_t kEnd = 2;

class Parallel : public ::testing::TestWithParam<std::string> {
 protected:
  using Ids = std::vector<std::int32_t>;

  llama::Model model(const std::string& name, std::size_t sequences) const {
    return llama::load_model(device_, random_model(name), kContext,
                             {.sequences = static_cast<std::int64_t>(sequences)});
  }
  std::vector<Ids> apart(const std::string& name, const std::vector<Ids>& prompts,
                         std::size_t count) {
    const llama::Model one = model(name, 1);
    std::vector<Ids> ids;
    for (const Ids& prompt : prompts) {
      ids.push_back(llama::generate(
                        executor_, one,
                        {.prompt = prompt, .count = count, .context = kContext, .end_token = kEnd},
                        [](std::int32_t) {})
                        .ids);
    }
    return ids;
  }
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(On, Parallel, ::testing::Values("cpu", "vulkan"), device_param_name);

// Prompts are fixed: a batch sums in another order than one row, and of fresh ones some would have
// two tokens that are as likely but for rounding.
TEST_P(Parallel, SequencesSayWhatEachSaysAlone) {
  for (const char* name : {"gemma2-f32", "llama-f32", "mamba-f32", "qwen3moe-f32"}) {
    SCOPED_TRACE(name);
    const std::vector<Ids> prompts{{1, 259, 267, 264}, {1, 80}, {1, 259, 270, 12, 99, 100, 101}};
    const auto expected = apart(name, prompts, 20);
    for (const auto mode : {llama::Mode::direct, llama::Mode::recorded}) {
      const auto result = generate_parallel(
          executor_, model(name, prompts.size()),
          {.prompts = prompts, .count = 20, .context = kContext, .end_token = kEnd, .mode = mode});
      EXPECT_EQ(result.ids, expected);
    }
  }
}

TEST_P(Parallel, TheEndOfOneLeavesTheOthersGoingOn) {
  const std::vector<Ids> prompts{{1, 259, 267, 264}, Ids(kContext - 3, 77), Ids(kContext, 5)};
  const auto expected = apart("llama-f32", prompts, 12);
  const auto result =
      generate_parallel(executor_, model("llama-f32", prompts.size()),
                        {.prompts = prompts, .count = 12, .context = kContext, .end_token = kEnd});
  EXPECT_EQ(result.ids, expected);
  EXPECT_EQ(result.ids[0].size(), 12U);
  EXPECT_EQ(result.ids[1].size(), 4U);  // to the end of the context, and the token after it
  EXPECT_EQ(result.ids[2].size(), 1U);
  EXPECT_EQ(result.steps, 11U);
}

TEST_P(Parallel, AnotherNumberOfPromptsIsRefused) {
  const std::vector<Ids> prompts{{1, 5}, {1, 6}};
  expect_error(ErrorCode::invalid_argument, {"(2) prompts", "3 sequences"}, [&] {
    (void)generate_parallel(executor_, model("llama-f32", 3),
                            {.prompts = prompts, .context = kContext});
  });
}

}  // namespace
}  // namespace reprise::testing
