// A llama as an executable graph gives the ids of sessions.
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "reprise/formats/tokenizer.h"
#include "samples/llama/executable.h"
#include "samples/llama/generate.h"
#include "tests/session/executable/executable_test.h"

namespace reprise::testing {
namespace {

class ExecutableLlama : public ExecutableTest {
 protected:
  static constexpr std::int64_t kContext = 160;
  const GgufFile file_ = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-q8_0.gguf");
  const Tokenizer tokenizer_{file_};
  const llama::Model model_ = llama::load_model(device_, file_, kContext);
  const ExecutableGraph graph_ = llama::make_executable(
      executor_, model_, {.end_token = tokenizer_.eos(), .context = kContext});
};
INSTANTIATE_TEST_SUITE_P(On, ExecutableLlama, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(ExecutableLlama, DecodingSeveralPromptsAtOnceGivesTheirReferenceIds) {
  std::ifstream stream(std::string(REPRISE_MODELS_DIR) + "/reference.json");
  std::vector<std::vector<std::int32_t>> prompts, expected;
  for (const auto& entry : nlohmann::json::parse(stream)) {
    const std::string prompt = entry["prompt"];
    if (entry["file"] == "tales-q8_0.gguf" &&
        (prompt.starts_with("Nell") || prompt.starts_with("Gus"))) {
      prompts.push_back(tokenizer_.encode(prompt));
      expected.push_back(entry["generated_token_ids"].get<std::vector<std::int32_t>>());
    }
  }
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(llama::generate_all(graph_, prompts, expected[0].size()), expected);
}

TEST_P(ExecutableLlama, PromptsOfOneToSixtyFourTokensGiveTheIdsOfSessionsFromThreeRecordings) {
  std::vector<std::vector<std::int32_t>> prompts;
  // Both ends of every bucket, what is inside, and one that takes two runs.
  for (const std::size_t length :
       {1U, 2U, 5U, 7U, 8U, 9U, 10U, 15U, 16U, 17U, 31U, 33U, 50U, 63U, 64U, 100U}) {
    prompts.emplace_back(length);
    std::iota(prompts.back().begin(), prompts.back().end(), 300);
  }
  constexpr std::size_t kCount = 3;
  const auto generated = llama::generate_all(graph_, prompts, kCount);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const llama::Request request{
        .prompt = prompts[i], .count = kCount, .context = kContext, .end_token = tokenizer_.eos()};
    EXPECT_EQ(generated[i], llama::generate(executor_, model_, request, [](std::int32_t) {}).ids)
        << prompts[i].size() << " tokens";
  }
  EXPECT_EQ(graph_.recordings(), 4U) << "the pass without handles, and one per bucket";
}

}  // namespace
}  // namespace reprise::testing
