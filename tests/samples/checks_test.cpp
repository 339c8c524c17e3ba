// The checks of the library on the passes of the samples.
#include "samples/llama/checks.h"

#include "tests/testing.h"

// The sample's pass as it is. Its main is another function here, and no other one may end without
// a value; it is not called.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
#define main decode_loop_main
// NOLINTNEXTLINE(bugprone-suspicious-include)
#include "samples/decode_loop/decode_loop.cpp"
#undef main
#pragma GCC diagnostic pop

namespace reprise::testing {
namespace {

class SampleChecks : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
};
INSTANTIATE_TEST_SUITE_P(On, SampleChecks, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(SampleChecks, FindNothingInLlama) {
  for (const char* format : {"f16", "q8_0", "q4_0"}) {
    const auto file =
        GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" + format + ".gguf");
    const llama::Model model = llama::load_model(device_, file, 64);
    const std::vector<std::int32_t> prompt{1, 421, 340, 396};
    const llama::CheckOutcome outcome = llama::check(
        executor_, model, {.prompt = prompt, .context = 64, .end_token = 2}, {true, true});
    EXPECT_TRUE(outcome.passed) << outcome.text;
    EXPECT_EQ(outcome.text,
              "lint: 'prefill', 2 runs, 109 ops: nothing is baked\n"
              "lint: 'decode', 3 runs, 108 ops: nothing is baked\n"
              "verify: 'prefill', 20 outputs and written tensors: equal bit for bit\n"
              "verify: 'decode', 20 outputs and written tensors: equal bit for bit");
  }
}

TEST_P(SampleChecks, FindNothingInDecodeLoop) {
  const ::Model model{weight(device_, kVocabulary, 0.37F, "embedding"),
                      weight(device_, kDim, 0.71F, "wq"),
                      weight(device_, kDim, 0.13F, "wk"),
                      weight(device_, kDim, 0.29F, "wv"),
                      device_.zeros({kContext, 1, kDim}, DType::f32, "k_cache"),
                      device_.zeros({kContext, 1, kDim}, DType::f32, "v_cache")};
  const StateBlock state(
      device_,
      StateLayout().host("rows", 1).carried("pos").carried("token").carried("done").derived(
          "kv_len", field("pos") + field("rows")));
  const auto decode = [&](GraphSession& s) {
    s.output("next", step(s, model, get_rows(s, model.embedding, s.state("token"))));
  };
  const auto at = [&](std::int32_t position) {
    return [&, position] { state.set({{"pos", position}, {"token", position}}); };
  };
  const LintReport linted =
      lint(executor_, decode, {.session = {.state = state}, .runs = {at(0), at(7), at(63)}});
  EXPECT_TRUE(linted.clean()) << linted.text();
  at(5)();
  const VerifyReport verified = verify(executor_, decode, {.session = {.state = state}});
  EXPECT_TRUE(verified.equal()) << verified.text();
  EXPECT_EQ(verified.tensors.size(), 8U);
}

}  // namespace
}  // namespace reprise::testing
