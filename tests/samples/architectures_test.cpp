// Every architecture in every weight format: its logits against the float64 references, what a
// replay does against a direct run, its greedy text against llama.cpp.
#include <fstream>

#include <nlohmann/json.hpp>

#include "framework/ops/weight_formats.h"
#include "samples/llama/archs/architecture.h"
#include "samples/llama/checks.h"
#include "samples/llama/executable.h"
#include "tests/samples/random_models.h"

namespace reprise::testing {
namespace {

constexpr std::size_t kPrompt = 12, kSteps = 10;
constexpr std::int64_t kContext = 32;

// Of all rows together: a row of logits is a chain of some 30 sums in f32, each with an error of
// about 1e-7; their squares are 1e-13 to 5e-13, and a hundred times that in one of a thousand rows
// of q4_K and q5_K. An eps of twice its size gives more than 1e-11, a wrong angle in one row 1e-4.
constexpr double kLimit = 5e-12;

/// Logits of each row: of a prompt in one direct session, then of single steps, replayed.
std::vector<std::vector<double>> logits(const Device& device, const GgufFile& file,
                                        const std::vector<std::int32_t>& tokens,
                                        DType cache = DType::f32) {
  GraphExecutor executor(device);
  const llama::Model m = llama::load_model(device, file, kContext, {.cache = cache});
  const StateBlock state(device, llama::state_layout(-1, kContext));
  std::vector<std::vector<double>> all;
  const auto keep = [&](const std::vector<float>& values) {
    const auto columns = static_cast<std::ptrdiff_t>(m.sizes.vocabulary);
    for (auto row = values.begin(); row != values.end(); row += columns) {
      all.emplace_back(row, row + columns);
    }
  };
  state.set("rows", static_cast<std::int32_t>(kPrompt));
  auto prompt = executor.begin({.state = state});
  const auto ids = prompt.input("ids", {kPrompt}, std::span(tokens).first(kPrompt));
  prompt.output("logits", forward_all(prompt, m, get_rows(prompt, m.embedding, ids)));
  keep(prompt.finish().read("logits"));

  auto step = executor.begin_recorded({.state = state});
  step.output("logits", forward(step, m, get_rows(step, m.embedding, step.state("token"))));
  CapturedGraph graph = step.finish({.run = false}).graph;
  for (std::size_t at = kPrompt; at < tokens.size(); ++at) {
    state.set({{"rows", 1}, {"pos", static_cast<std::int32_t>(at)}, {"token", tokens[at]}});
    graph.launch();
    keep(graph.read("logits"));
  }
  return all;
}

void expect_reference_logits(const std::string& device, const GgufFile& file, std::uint64_t seed,
                             double limit = kLimit, DType cache = DType::f32) {
  SCOPED_TRACE(seed_note(seed));
  const auto tokens = random_tokens(seed, kPrompt + kSteps, llama::sizes_of(file).vocabulary);
  const auto expected = logits(test_device("reference"), file, tokens);
  const auto actual = logits(test_device(device), file, tokens, cache);
  ASSERT_EQ(actual.size(), kPrompt + kSteps);
  std::vector<double> e, a;
  std::string rows;
  for (std::size_t row = 0; row < actual.size(); ++row) {
    e.insert(e.end(), expected[row].begin(), expected[row].end());
    a.insert(a.end(), actual[row].begin(), actual[row].end());
    rows += " " + std::to_string(nmse(expected[row], actual[row]) / limit);
  }
  EXPECT_LE(nmse(e, a), limit) << "rows, shares of the limit:" << rows;
}

using DeviceAndName = std::tuple<std::string, std::string>;
std::string param_name(const ::testing::TestParamInfo<DeviceAndName>& parameter) {
  return std::get<0>(parameter.param) + "_" + std::get<1>(parameter.param);
}

class Architectures : public ::testing::TestWithParam<DeviceAndName> {
 protected:
  const std::string device_ = std::get<0>(GetParam()), name_ = std::get<1>(GetParam());
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(Of, Architectures,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::Values("gemma", "gemma2", "llama", "mamba",
                                                              "mixtral", "qwen2", "qwen3",
                                                              "qwen3moe")),
                         param_name);

TEST_P(Architectures, HaveTheLogitsOfTheReference) {
  // Two experts that a router finds equal but for rounding would fail a fresh seed once in a
  // thousand runs.
  const bool routed = llama::sizes_of(random_model(name_ + "-f32")).experts > 0;
  for (const char* format : {"f32", "f16", "q8_0", "q4_0"}) {
    SCOPED_TRACE(format);
    expect_reference_logits(device_, random_model(name_ + "-" + format), routed ? 1 : test_seed());
  }
}

TEST_P(Architectures, ReplayWhatADirectSessionComputes) {
  const GgufFile file = random_model(name_ + "-q8_0");
  const Device device = test_device(device_);
  GraphExecutor executor(device);
  const llama::Model model = llama::load_model(device, file, kContext);
  const auto prompt = random_tokens(test_seed(), kPrompt, model.sizes.vocabulary);
  const llama::CheckOutcome outcome =
      check(executor, model, {.prompt = prompt, .context = kContext}, {true, true});
  EXPECT_TRUE(outcome.passed) << outcome.text;
}

TEST_P(Architectures, SayWhatLlamaCppSays) {
  const Device device = test_device(device_);
  GraphExecutor executor(device);
  const llama::Model model = llama::load_model(device, random_model(name_ + "-f32"), 64);
  std::ifstream lines(REPRISE_PEER_IDS);
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto peer = nlohmann::json::parse(line);
    if (peer["file"] != name_ + "-f32.gguf") {
      continue;
    }
    ++found;
    const auto prompt = peer["prompt_token_ids"].get<std::vector<std::int32_t>>();
    const auto expected = peer["generated_token_ids"].get<std::vector<std::int32_t>>();
    const auto said = llama::generate(
        executor, model,
        {.prompt = prompt, .count = expected.size(), .context = 64, .end_token = -1},
        [](std::int32_t) {});
    EXPECT_EQ(said.ids, expected);
  }
  EXPECT_EQ(found, 2U);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const DType format : ops::kWeightFormats) {
    names.emplace_back(name_of(format));
  }
  return names;
}

class WeightFormats : public Architectures {};
INSTANTIATE_TEST_SUITE_P(Of, WeightFormats,
                         ::testing::Combine(::testing::Values("cpu", "vulkan"),
                                            ::testing::ValuesIn(format_names())),
                         param_name);

TEST_P(WeightFormats, HaveTheLogitsOfTheReference) {
  expect_reference_logits(device_, random_model("wide-" + name_), test_seed());
}

/// Caches of other types, on a device.
class Caches : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(On, Caches, ::testing::Values("cpu", "vulkan"), device_param_name);

// Numbers of 11 bits are within 5e-4 of what they stand for, of 8 bits within 4e-3.
TEST_P(Caches, OfHalvesAndBytesGiveNearlyTheLogitsOfTheReference) {
  const GgufFile file = random_model("wide-f32");
  expect_reference_logits(GetParam(), file, test_seed(), 1e-7, DType::f16);
  expect_reference_logits(GetParam(), file, test_seed(), 1e-4, DType::q8_0);
}

TEST_P(Caches, OfBytesNeedHeadsOfWholeBlocks) {
  const Device device = test_device(GetParam());
  expect_error(ErrorCode::invalid_argument, {"Heads of (16)", "blocks of 32"}, [&] {
    (void)llama::load_model(device, random_model("llama-f32"), kContext, {.cache = DType::q8_0});
  });
}

TEST_P(Caches, OfAnExecutableGraphSayWhatGeneratedTextSays) {
  const Device device = test_device(GetParam());
  GraphExecutor executor(device);
  const llama::Model model =
      llama::load_model(device, random_model("wide-f32"), kContext, {.cache = DType::f16});
  const std::vector<std::vector<std::int32_t>> prompts{
      random_tokens(1, kPrompt, model.sizes.vocabulary)};
  const auto said =
      llama::generate(executor, model,
                      {.prompt = prompts[0], .count = kSteps, .context = kContext, .end_token = -1},
                      [](std::int32_t) {});
  const ExecutableGraph graph = llama::make_executable(executor, model, {.context = kContext});
  EXPECT_EQ(llama::generate_all(graph, prompts, kSteps), std::vector({said.ids}));
}

TEST(ArchitectureNames, AreUniqueAndAnUnknownOneIsToldThem) {
  expect_error(ErrorCode::unsupported, {"(t5)", "gemma, gemma2, llama, mamba, qwen2"},
               [] { (void)llama::architecture_named("t5"); });
  for (const llama::Architecture* architecture : llama::architectures()) {
    EXPECT_EQ(&llama::architecture_named(architecture->name), architecture);
  }
}

}  // namespace
}  // namespace reprise::testing
