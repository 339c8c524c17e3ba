// What generation refuses, and how it says so.
#include "samples/llama/generate.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Generate : public ::testing::Test {
 protected:
  void refuse(const std::vector<std::int32_t>& prompt, const std::vector<std::string>& parts) {
    expect_error(ErrorCode::invalid_argument, parts, [&] {
      (void)llama::generate(executor_, model_, {.prompt = prompt, .context = 8},
                            [](std::int32_t) {});
    });
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  llama::Model model_ = llama::load_model(
      device_, GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-f16.gguf"), 8);
};

TEST_F(Generate, RefusesAnEmptyPrompt) { refuse({}, {"(0) tokens", "at least 1"}); }

TEST_F(Generate, RefusesAPromptLongerThanTheContext) {
  refuse(std::vector<std::int32_t>(9, 1), {"(9) tokens", "holds 8"});
}

TEST_F(Generate, RefusesTokensOutsideTheVocabulary) {
  refuse({1, 512}, {"(512)", "0 to 511"});
  refuse({-1}, {"(-1)", "0 to 511"});
}

TEST_F(Generate, AcceptsAPromptThatFillsTheContext) {
  const std::vector<std::int32_t> prompt(8, 300);
  const auto result = llama::generate(
      executor_, model_, {.prompt = prompt, .count = 5, .context = 8}, [](std::int32_t) {});
  EXPECT_EQ(result.ids.size(), 1U);
}

}  // namespace
}  // namespace reprise::testing
