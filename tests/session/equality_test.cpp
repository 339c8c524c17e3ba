// Direct, replayed and interleaved runs of a real model give the same bits; the tales model gives
// the ids of its reference file.
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "reprise/formats/tokenizer.h"
#include "samples/llama/generate.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using DeviceAndFormat = std::tuple<std::string, std::string>;

class Equality : public ::testing::TestWithParam<DeviceAndFormat> {
 protected:
  llama::Generation generate(const llama::Model& model, const llama::Request& request) {
    return llama::generate(executor_, model, request, [](std::int32_t) {});
  }
  /// Logits of `steps` decode steps from position 0, one row each.
  std::vector<std::vector<std::byte>> logits(bool recorded, std::size_t steps, bool interleave) {
    const llama::Model model = llama::load_model(device_, file_, 64);
    const StateBlock state(device_, llama::state_layout(2));
    state.set("token", 1);
    std::vector<std::vector<std::byte>> rows;
    const auto record = [&](GraphSession& s) {
      const Tensor y = llama::forward(s, model, get_rows(s, model.embedding, s.state("token")));
      s.output("logits", y);
      s.output("next", llama::choose(s, y));
    };
    if (!recorded) {
      for (std::size_t i = 0; i < steps; ++i) {
        auto s = executor_.begin({.state = state});
        record(s);
        rows.push_back(s.finish().read<std::byte>("logits"));
      }
      return rows;
    }
    auto s = executor_.begin_recorded({.state = state});
    record(s);
    FinishResult result = s.finish();
    rows.push_back(result.read<std::byte>("logits"));
    while (rows.size() < steps) {
      if (interleave) {
        (void)logits(false, 1, false);
      }
      result.graph.launch();
      rows.push_back(result.graph.read<std::byte>("logits"));
    }
    return rows;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(std::get<0>(GetParam()));
  GraphExecutor executor_{device_};
  const std::string name_ = "tales-" + std::get<1>(GetParam()) + ".gguf";
  GgufFile file_ = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/" + name_);
};
INSTANTIATE_TEST_SUITE_P(On, Equality,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::Values("f16", "q8_0", "q4_0")),
                         [](const ::testing::TestParamInfo<DeviceAndFormat>& p) {
                           return std::get<0>(p.param) + "_" + std::get<1>(p.param);
                         });

TEST_P(Equality, DirectAndReplayedLogitsAreBitEqual) {
  EXPECT_TRUE(logits(false, 8, false) == logits(true, 8, false));
}

TEST_P(Equality, ReplaysBetweenOtherSessionsAreBitEqual) {
  EXPECT_TRUE(logits(true, 4, false) == logits(true, 4, true));
}

TEST_P(Equality, TheTalesModelGivesItsReferenceIds) {
  const Tokenizer tokenizer(file_);
  const llama::Model model = llama::load_model(device_, file_, 512);
  std::ifstream stream(std::string(REPRISE_MODELS_DIR) + "/reference.json");
  int runs = 0;
  for (const auto& entry : nlohmann::json::parse(stream)) {
    const std::string prompt = entry["prompt"];
    if (entry["file"] != name_ || (!prompt.starts_with("Nell") && !prompt.starts_with("Gus"))) {
      continue;
    }
    const auto expected = entry["generated_token_ids"].get<std::vector<std::int32_t>>();
    const auto ids = tokenizer.encode(prompt);
    for (const llama::Mode mode : {llama::Mode::direct, llama::Mode::recorded}) {
      const auto result = generate(model, {.prompt = ids,
                                           .count = expected.size(),
                                           .context = 512,
                                           .end_token = tokenizer.eos(),
                                           .mode = mode});
      EXPECT_EQ(result.ids, expected) << prompt;
      ++runs;
    }
  }
  EXPECT_EQ(runs, 4);
}

// Prompts from one recording per bucket, and from sessions of exactly that many rows: with more
// than one row, devices choose kernels that give the same bits.
TEST_P(Equality, ARecordingPerBucketServesEveryPrompt) {
  const llama::Model model = llama::load_model(device_, file_, 64);
  const StateBlock state(device_, llama::state_layout(-1, 64));
  const std::vector<std::int32_t> prompt = [] {
    std::vector<std::int32_t> ids(64);
    std::iota(ids.begin(), ids.end(), 1);
    return ids;
  }();
  GraphCache cache(executor_);
  const GraphOwner owner("prompts");
  const auto record = [&](GraphSession& s, const Extent& rows) {
    const Tensor ids = s.input("tokens", {rows}, DType::i32);
    const Tensor y = llama::forward(s, model, get_rows(s, model.embedding, ids));
    s.output("logits", y);
    s.output("next", llama::choose(s, y));
  };
  const auto prepare = [&](std::int32_t rows) {
    state.set({{"rows", rows}, {"pos", 0}});
    return std::span(prompt).first(static_cast<std::size_t>(rows));
  };
  for (const std::int32_t rows : {2, 8, 32, 64, 5, 1, 33}) {
    const std::int64_t bucket = rows <= 8 ? 8 : rows <= 32 ? 32 : 64;
    const SessionOptions in_bucket{
        .state = state, .extents = {{"rows", bucket}}, .inputs = {{"tokens", prepare(rows)}}};
    const auto run = cache.run(
        {.owner = owner, .tag = "prompt", .bucket = {bucket}},
        [&](GraphSession& s) { record(s, s.extent("rows")); }, in_bucket);
    const auto logits = run.read<std::byte>("logits");
    const auto keys = device_.to_host(model.layers.back().k_cache);
    (void)prepare(rows);
    auto direct = executor_.begin(in_bucket);
    record(direct, direct.extent("rows"));
    EXPECT_EQ(direct.finish().read<std::byte>("logits"), logits) << rows;
    EXPECT_EQ(device_.to_host(model.layers.back().k_cache), keys) << rows;
    if (rows > 1) {
      auto fixed = executor_.begin({.state = state, .inputs = {{"tokens", prepare(rows)}}});
      record(fixed, rows);
      EXPECT_EQ(fixed.finish().read<std::byte>("logits"), logits) << rows;
    }
  }
  EXPECT_EQ(cache.counters().recorded, 3U);
}

TEST_P(Equality, OneRecordingServesTheWholeDecodeLoopWithoutAllocating) {
  const llama::Model model = llama::load_model(device_, file_, 512);
  const std::vector<std::int32_t> prompt{1, 421, 340, 396};
  const auto result =
      generate(model, {.prompt = prompt, .count = 20, .context = 512, .end_token = 2});
  EXPECT_EQ(result.ids.size(), 20U);
  EXPECT_EQ(result.replays, 19U);
  EXPECT_EQ(result.allocations, 0U);
}

TEST_P(Equality, GenerationStopsAtTheEndOfTheContext) {
  const llama::Model model = llama::load_model(device_, file_, 8);
  const std::vector<std::int32_t> prompt{1, 421, 340, 396};
  for (const std::uint32_t k : {1U, 8U}) {
    const auto result = generate(
        model,
        {.prompt = prompt, .count = 100, .context = 8, .end_token = 2, .iterations_per_submit = k});
    EXPECT_EQ(result.ids.size(), 5U);  // one from the prompt, one per position left
  }
}

TEST_P(Equality, IdsAreTheSameForEveryNumberOfIterationsPerSubmission) {
  const llama::Model model = llama::load_model(device_, file_, 512);
  const std::vector<std::int32_t> prompt{1, 421, 340, 396};
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::uint32_t k : {1U, 8U, 64U}) {
    const auto result = generate(model, {.prompt = prompt,
                                         .count = 66,
                                         .context = 512,
                                         .end_token = 2,
                                         .iterations_per_submit = k});
    ids.push_back(result.ids);
    EXPECT_EQ(result.submissions, 1 + (result.replays - 1 + k - 1) / k);
  }
  EXPECT_GT(ids[0].size(), 8U);
  EXPECT_EQ(ids[1], ids[0]);
  EXPECT_EQ(ids[2], ids[0]);
}

}  // namespace
}  // namespace reprise::testing
