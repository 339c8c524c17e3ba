// Graphs in files: saved by one process, loaded and launched by another, bit by bit the same.
#include "reprise/session/saved_graphs.h"

#include <cstdlib>
#include <fstream>

#include "samples/llama/forward.h"
#include "tests/file_contents.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/gate_op.h"
#include "tests/session/saved_pass.h"

namespace reprise::testing {
namespace {

using test::TempFolder;

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// How a test tells its second process what to do.
constexpr const char* kFolder = "REPRISE_TEST_SAVED_FOLDER";
constexpr const char* kDevice = "REPRISE_TEST_SAVED_DEVICE";

std::string told(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Runs one test of this program, which is skipped otherwise, in another process.
int run_elsewhere(const std::string& test, const std::filesystem::path& folder,
                  const std::string& device) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = std::string(kFolder) + "='" + folder.string() + "' " + kDevice + "=" +
                              device + " '" + program + "' --gtest_filter=" + test + " > '" +
                              (folder / "log").string() + "' 2>&1";
  return std::system(command.c_str());
}

class SavedGraphs : public ::testing::TestWithParam<std::string> {
 protected:
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "graph";
};
INSTANTIATE_TEST_SUITE_P(On, SavedGraphs, ::testing::Values("cpu", "vulkan"), device_param_name);

/// The second process of the tests below.
TEST(SavedGraphsElsewhere, LaunchesTheGraph) {
  const std::filesystem::path folder = told(kFolder);
  if (folder.empty()) {
    GTEST_SKIP() << "runs in the process of another test";
  }
  SavedPass pass(test_device(told(kDevice)));
  LoadedGraph loaded = pass.load(folder / "graph");
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  std::ofstream(folder / "hashes") << loaded.graph.structure_hash() << "\n"
                                   << loaded.graph.content_hash();
  const std::uint32_t iterations = test::bytes_of_file(folder / "eight").empty() ? 1 : 8;
  write(folder / "outcome", outcome_of(pass, loaded.graph, iterations));
}

TEST_P(SavedGraphs, GiveTheSameBitsInAnotherProcess) {
  for (const std::uint32_t iterations : {1U, 8U}) {
    SavedPass pass(device_);
    CapturedGraph graph = pass.capture(iterations, {.run = false}).graph;
    graph.save(file_);
    if (iterations == 8) {
      std::ofstream(folder_ / "eight") << "yes";
    }
    const auto expected = outcome_of(pass, graph, iterations);
    ASSERT_EQ(
        run_elsewhere("SavedGraphsElsewhere.LaunchesTheGraph", file_.parent_path(), GetParam()), 0)
        << std::ifstream(folder_ / "log").rdbuf();
    EXPECT_EQ(test::bytes_of_file(folder_ / "outcome"), expected) << iterations << " iterations";
    std::stringstream hashes;
    hashes << std::ifstream(folder_ / "hashes").rdbuf();
    EXPECT_EQ(hashes.str(), graph.structure_hash() + "\n" + graph.content_hash());
  }
}

llama::Model tales(const Device& device) {
  return llama::load_model(
      device, GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-q8_0.gguf"), 64);
}

std::map<std::string, Tensor, std::less<>> tensors_of(const llama::Model& m) {
  std::map<std::string, Tensor, std::less<>> tensors;
  const auto add = [&](const Tensor& t) {
    if (t) {
      tensors[t.name()] = t;
    }
  };
  for (const llama::Layer& l : m.layers) {
    for (const Tensor& t : {l.attn_norm, l.wq, l.wk, l.wv, l.wo, l.ffn_norm, l.gate, l.up, l.down,
                            l.k_cache, l.v_cache}) {
      add(t);
    }
  }
  for (const Tensor& t : {m.embedding, m.norm, m.head, m.rope_factors}) {
    add(t);
  }
  return tensors;
}

/// Decodes 24 tokens after token 1 from an empty cache.
std::vector<std::int32_t> ids_of(CapturedGraph& graph, const StateBlock& state) {
  std::vector<std::int32_t> ids;
  state.set("token", 1);
  state.set("pos", 0);
  for (int launch = 0; launch < 3; ++launch) {
    graph.launch({.iterations = 8});
    for (std::uint32_t i = 0; i < graph.iterations(); ++i) {
      ids.push_back(graph.read<std::int32_t>("next", i)[0]);
    }
  }
  return ids;
}

TEST(SavedGraphsElsewhere, DecodesTales) {
  const std::filesystem::path folder = told(kFolder);
  if (folder.empty()) {
    GTEST_SKIP() << "runs in the process of another test";
  }
  const Device device = test_device(told(kDevice));
  GraphExecutor executor(device);
  const llama::Model model = tales(device);
  const StateBlock state(device, llama::state_layout(-1, 64));
  LoadedGraph loaded =
      executor.load_graph(folder / "graph", {.tensors = tensors_of(model), .state = state});
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  const auto ids = ids_of(loaded.graph, state);
  write(folder / "ids", std::as_bytes(std::span(ids)));
}

TEST_P(SavedGraphs, DecodeTheSameIdsInAnotherProcess) {
  GraphExecutor executor(device_);
  const llama::Model model = tales(device_);
  const StateBlock state(device_, llama::state_layout(-1, 64));
  auto s = executor.begin_recorded({.name = "decode", .state = state, .max_iterations = 8});
  s.output("next", llama::choose(s, llama::forward(
                                        s, model, get_rows(s, model.embedding, s.state("token")))));
  CapturedGraph graph = s.finish({.run = false}).graph;
  graph.save(file_);
  const auto ids = ids_of(graph, state);
  ASSERT_EQ(run_elsewhere("SavedGraphsElsewhere.DecodesTales", file_.parent_path(), GetParam()), 0)
      << std::ifstream(folder_ / "log").rdbuf();
  const auto bytes = std::as_bytes(std::span(ids));
  EXPECT_EQ(test::bytes_of_file(folder_ / "ids"),
            std::vector<std::byte>(bytes.begin(), bytes.end()));
}

TEST_P(SavedGraphs, SayTheNamesOfTensorsThatAreMissing) {
  SavedPass pass(device_);
  pass.capture().graph.save(file_);
  pass.tensors.erase("wq");
  pass.tensors["keys"] = Tensor();
  expect_error(ErrorCode::invalid_argument, {"not given", "'wq' f32 [16, 16]", "'keys'"},
               [&] { (void)pass.load(file_); });
}

TEST_P(SavedGraphs, RefuseTensorsOfAnotherShapeOrType) {
  SavedPass pass(device_);
  pass.capture().graph.save(file_);
  pass.tensors["wq"] = device_.zeros({8, 16}, DType::f32, "wq");
  expect_error(ErrorCode::invalid_argument, {"'wq'", "(f32 [8, 16])", "f32 [16, 16] in the file"},
               [&] { (void)pass.load(file_); });
  pass.tensors["wq"] = device_.zeros({16, 16}, DType::f16, "wq");
  expect_error(ErrorCode::invalid_argument, {"'wq'", "f16"}, [&] { (void)pass.load(file_); });
}

TEST_P(SavedGraphs, TakeNoNoticeOfTensorsTheyDoNotUse) {
  SavedPass pass(device_);
  pass.capture().graph.save(file_);
  pass.tensors["another"] = device_.zeros({8, 16}, DType::f32, "another");
  EXPECT_TRUE(pass.load(file_).graph);
}

TEST_P(SavedGraphs, NeedTheirState) {
  SavedPass pass(device_);
  pass.capture().graph.save(file_);
  pass.state = StateBlock();
  expect_error(ErrorCode::invalid_argument, {"needs a state block"},
               [&] { (void)pass.load(file_); });
  pass.state = StateBlock(device_, SavedPass::layout().carried("more"));
  expect_error(ErrorCode::invalid_argument, {"field", "'more'", "in the file"},
               [&] { (void)pass.load(file_); });
}

TEST_P(SavedGraphs, AreNotSavedWithTensorsNobodyCouldName) {
  SavedPass pass(device_);
  for (const char* name : {"", "wq"}) {
    pass.tensors["wo"] = device_.zeros({16, 16}, DType::f32, name);
    expect_error(ErrorCode::invalid_argument,
                 {"cannot be saved", *name == '\0' ? "(one without a name)" : "(wq)", "[16, 16]"},
                 [&] { pass.capture(1, {.run = false}).graph.save(file_); });
  }
}

TEST_P(SavedGraphs, TellWhenTheyArePlannedForOtherTraits) {
  SavedPass pass(device_);
  pass.capture().graph.save(file_);
  SavedPass fast(device_, {.precision = Precision::fast});
  const LoadReport report = fast.load(file_).report;
  EXPECT_TRUE(report.replanned);
  EXPECT_EQ(report.reason, "precision: (exact) in the file, (fast) here");
}

TEST_P(SavedGraphs, RunWithTensorsThatLieElsewhereAndSayWhich) {
  SavedPass pass(device_);
  CapturedGraph graph = pass.capture(1, {.run = false}).graph;
  graph.save(file_);
  SavedPass other(device_);
  const std::vector<float> norm = wave(SavedPass::kDim, 0.3);
  std::vector<float> behind(64);
  behind.insert(behind.end(), norm.begin(), norm.end());
  const Tensor whole = device_.from_host({80}, behind, "whole");
  other.tensors["norm"] = Tensor::over(TensorRef(whole)->buffer,
                                       TensorSpec({SavedPass::kDim}, DType::f32), 256, "part");
  LoadedGraph loaded = other.load(file_);
  EXPECT_TRUE(loaded.report.replanned);
  EXPECT_NE(loaded.report.reason.find("'norm'"), std::string::npos) << loaded.report.reason;
  EXPECT_EQ(outcome_of(other, loaded.graph, 1), outcome_of(pass, graph, 1));
}

TEST_P(SavedGraphs, KeepTheInputsThatWereSetLast) {
  SavedPass pass(device_);
  CapturedGraph graph = pass.capture(1, {.run = false}).graph;
  graph.set_input("bias", wave(SavedPass::kDim, 0.9));
  graph.save(file_);
  graph.launch();
  SavedPass other(device_);
  CapturedGraph loaded = other.load(file_).graph;
  loaded.launch();
  EXPECT_EQ(loaded.read("logits"), graph.read("logits"));
}

TEST_P(SavedGraphs, CanBeSavedAgainAndGiveTheSameFile) {
  SavedPass pass(device_);
  pass.capture(8).graph.save(file_);
  SavedPass other(device_);
  other.load(file_).graph.save(folder_ / "again");
  EXPECT_EQ(test::bytes_of_file(folder_ / "again"), test::bytes_of_file(file_));
}

TEST_P(SavedGraphs, HaveTheHashesOfTheProfilingDatabase) {
  {
    SavedPass pass(device_, {.profile = folder_ / "profile.db"});
    CapturedGraph graph = pass.capture().graph;
    graph.save(file_);
    CapturedGraph loaded = pass.load(file_).graph;
    std::ofstream(folder_ / "hashes") << graph.content_hash() << "|" << graph.structure_hash();
    EXPECT_EQ(loaded.content_hash(), graph.content_hash());
    loaded.launch();
  }
  std::stringstream hashes;
  hashes << std::ifstream(folder_ / "hashes").rdbuf();
  EXPECT_EQ(test::sql(folder_ / "profile.db", "SELECT content_hash, structure_hash FROM graphs"),
            hashes.str());
  EXPECT_EQ(test::sql(folder_ / "profile.db", "SELECT outcome FROM sessions ORDER BY id"),
            "finished\nloaded");
}

TEST(SavedGraphsOnCpu, RefuseOpsThatAreNotTheLibrarys) {
  const TempFolder folder;
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  auto s = executor.begin_recorded({.name = "gated"});
  s.output("y", pass_gate(s, s.input("x", {1}, std::vector<float>{1})));
  const CapturedGraph graph = s.finish({.run = false}).graph;
  expect_error(ErrorCode::unsupported, {"'gated'", "is not one of the library's"},
               [&] { graph.save(folder / "graph"); });
  EXPECT_TRUE(folder.empty());
}

TEST(SavedGraphsOnCpu, SayWhereTheyCannotBeWrittenOrRead) {
  const TempFolder folder;
  SavedPass pass(test_device("cpu"));
  const CapturedGraph graph = pass.capture().graph;
  expect_error(ErrorCode::io, {"cannot be written", "none/graph"},
               [&] { graph.save(folder / "none/graph"); });
  expect_error(ErrorCode::io, {"no regular file", "none"},
               [&] { (void)pass.load(folder / "none"); });
}

}  // namespace
}  // namespace reprise::testing
