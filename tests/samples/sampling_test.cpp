// Drawn text: what it depends on, and what the options do to it.
#include <algorithm>
#include <set>

#include "samples/llama/parallel.h"
#include "tests/samples/random_models.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kContext = 100;  // more than the recent tokens
constexpr std::size_t kCount = 24;

class Sampling : public ::testing::TestWithParam<std::string> {
 protected:
  using Ids = std::vector<std::int32_t>;

  Ids draw(const llama::Sampling& how, llama::Mode mode = llama::Mode::recorded,
           std::uint32_t iterations = 1) {
    return llama::generate(executor_, model_,
                           {.prompt = prompt_,
                            .count = kCount,
                            .context = kContext,
                            .mode = mode,
                            .iterations_per_submit = iterations,
                            .sampling = how},
                           [](std::int32_t) {})
        .ids;
  }
  std::vector<Ids> draw_batch(std::size_t sequences, const llama::Sampling& how) {
    const llama::Model model =
        llama::load_model(device_, random_model("llama-f32"), kContext,
                          {.sequences = static_cast<std::int64_t>(sequences)});
    const std::vector<Ids> prompts(sequences, prompt_);
    return generate_parallel(
               executor_, model,
               {.prompts = prompts, .count = kCount, .context = kContext, .sampling = how})
        .ids;
  }
  void expect_no_repetition(const Ids& ids) const {
    std::set<std::int32_t> seen(prompt_.begin(), prompt_.end());
    for (const std::int32_t id : ids) {
      EXPECT_TRUE(seen.insert(id).second) << id << " again";
    }
  }
  const Ids prompt_{1, 259, 267, 264, 271};
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  llama::Model model_ = llama::load_model(device_, random_model("llama-f32"), kContext);
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(On, Sampling, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Sampling, DependsOnTheSeedAndNotOnHowItRuns) {
  const auto seed = static_cast<std::int32_t>(test_seed() & 0xFFFFU);
  SCOPED_TRACE(seed_note(static_cast<std::uint64_t>(seed)));
  const llama::Sampling how{.temperature = 1, .top_p = 0.9F, .repeat_penalty = 1.1F, .seed = seed};
  const Ids ids = draw(how);
  EXPECT_EQ(ids.size(), kCount);
  EXPECT_EQ(draw(how), ids);
  EXPECT_EQ(draw(how, llama::Mode::direct), ids);
  EXPECT_EQ(draw(how, llama::Mode::recorded, 5), ids);
  llama::Sampling other = how;
  other.seed = seed + 1;
  EXPECT_NE(draw(other), ids);
}

TEST_P(Sampling, FromOneTokenIsGreedy) {
  const Ids greedy = draw({});
  EXPECT_EQ(draw({.temperature = 2, .top_k = 1}), greedy);
  EXPECT_EQ(draw({.temperature = 2, .top_p = 0}), greedy);
  EXPECT_EQ(draw({.temperature = 2, .min_p = 1}), greedy);
  EXPECT_NE(draw({.temperature = 2}), greedy);
  EXPECT_EQ(draw_batch(3, {.temperature = 2, .top_k = 1}), std::vector<Ids>(3, greedy));
}

// A logit that is penalised is nearly 0, or far below: not the largest, but it may still be drawn.
TEST_P(Sampling, ALargePenaltyRepeatsNothing) {
  expect_no_repetition(draw({.repeat_penalty = 1e6F}));
  expect_no_repetition(draw({.temperature = 1, .top_k = 1, .repeat_penalty = 1e6F}));
  for (const Ids& ids : draw_batch(2, {.temperature = 1, .top_k = 1, .repeat_penalty = 1e6F})) {
    expect_no_repetition(ids);
  }
}

TEST_P(Sampling, RowsOfABatchDrawForThemselves) {
  const auto all = draw_batch(4, {.temperature = 1, .seed = 3});
  for (const Ids& ids : all) {
    EXPECT_EQ(std::ranges::count(all, ids), 1);
  }
}

TEST(RecentTokens, AreARing) {
  std::vector<std::int32_t> tokens(llama::kRecentTokens + 2);
  std::iota(tokens.begin(), tokens.end(), 10);
  auto expected = tokens;
  expected.resize(llama::kRecentTokens);
  expected[0] = tokens[llama::kRecentTokens];
  expected[1] = tokens[llama::kRecentTokens + 1];
  EXPECT_EQ(llama::recent_tokens(tokens), expected);
  const auto few = llama::recent_tokens(std::span(tokens).first(2));
  EXPECT_EQ(few[1], 11);
  EXPECT_EQ(few[2], -1);
}

}  // namespace
}  // namespace reprise::testing
