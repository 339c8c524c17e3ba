// Perplexity: the definition, token by token, and what it refuses.
#include "samples/llama/perplexity.h"

#include <cmath>

#include "tests/samples/random_models.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kContext = 80;  // of a chunk: a whole pass of rows, and a part of one

class Perplexity : public ::testing::TestWithParam<std::string> {
 protected:
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  llama::Model model_ = llama::load_model(device_, random_model("llama-q8_0"), kContext);
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(On, Perplexity, ::testing::Values("cpu", "vulkan"), device_param_name);

/// Sum of -log(probability) of tokens that single steps of the reference foretell.
double sum_of_steps(const std::vector<std::int32_t>& chunk) {
  const Device device = test_device("reference");
  GraphExecutor executor(device);
  const llama::Model m = llama::load_model(device, random_model("llama-q8_0"), kContext);
  const StateBlock state(device, llama::state_layout(-1));
  double sum = 0;
  for (std::size_t at = 0; at + 1 < chunk.size(); ++at) {
    state.set({{"pos", static_cast<std::int32_t>(at)}, {"token", chunk[at]}});
    auto step = executor.begin({.state = state});
    step.output("logits", forward(step, m, get_rows(step, m.embedding, step.state("token"))));
    const auto logits = step.finish().read("logits");
    double all = 0;
    for (const float logit : logits) {
      all += std::exp(static_cast<double>(logit));
    }
    if (at >= chunk.size() / 2) {
      sum += std::log(all) - static_cast<double>(logits[static_cast<std::size_t>(chunk[at + 1])]);
    }
  }
  return sum;
}

TEST_P(Perplexity, IsThatOfTheSecondHalvesOfChunks) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const auto tokens = random_tokens(seed, 2 * kContext + 7, model_.sizes.vocabulary);
  double sum = 0;
  for (std::ptrdiff_t begin : {std::ptrdiff_t{0}, std::ptrdiff_t{kContext}}) {
    std::vector<std::int32_t> chunk(tokens.begin() + begin, tokens.begin() + begin + kContext);
    chunk.front() = 1;
    sum += sum_of_steps(chunk);
  }
  constexpr std::size_t kCounted = 2 * (kContext - kContext / 2 - 1);
  for (const auto mode : {llama::Mode::direct, llama::Mode::recorded}) {
    const llama::Perplexity p = perplexity(
        executor_, model_, {.tokens = tokens, .context = kContext, .first_token = 1, .mode = mode});
    EXPECT_EQ(p.tokens, kCounted);
    EXPECT_EQ(p.chunks, 2U);
    // Logits are right to about 1e-6, their mean difference is smaller.
    EXPECT_NEAR(std::log(p.value), sum / kCounted, 1e-6);
  }
}

TEST_P(Perplexity, RefusesTextThatHasNoChunk) {
  const std::vector<std::int32_t> tokens(kContext - 1, 3);
  expect_error(ErrorCode::invalid_argument, {"(79) tokens", "80"}, [&] {
    (void)perplexity(executor_, model_, {.tokens = tokens, .context = kContext});
  });
  expect_error(ErrorCode::invalid_argument, {"(3) tokens", "at least 4"},
               [&] { (void)perplexity(executor_, model_, {.tokens = tokens, .context = 3}); });
}

}  // namespace
}  // namespace reprise::testing
