// Calls of a forward pass run kernels, not references.
#include <fstream>
#include <iterator>
#include <set>

#include "backends/cpu/kernels/kernel_table.h"
#include "bench/llama_run.h"
#include "bench/networks.h"
#include "reprise/formats/gguf.h"
#include "reprise/graph/compute_graph.h"
#include "tests/ops/op_case_table.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kPrompt = 20;

class KernelsTaken : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(By, KernelsTaken, ::testing::Values("f16", "q8_0", "q4_0"),
                         [](const auto& p) { return p.param; });

/// Whether a kernel would run that node. Addresses are not looked at, but for their alignment.
bool takes(const ComputeGraph& graph, const Node& node, Precision precision) {
  alignas(64) static std::byte memory[64];
  std::vector<HostTensor> tensors(node.op->operands.size() + node.op->results.size());
  for (const Use& use : graph.uses_of(node)) {
    if (use.tensor != graph.state_tensor) {
      tensors.at(use.slot) = {memory, &graph.tensors[use.tensor].spec};
    }
  }
  cpu::KernelPlan plan;
  return cpu::plan_kernel({{*node.op, tensors, graph.attributes_of(node), nullptr}, precision},
                          plan);
}

TEST_P(KernelsTaken, ByEveryCallOfPromptAndStepThatHasOne) {
  std::set<std::string_view> with_kernel;
  for (const cpu::NamedKernel& kernel : cpu::all_kernels()) {
    with_kernel.insert(kernel.op);
  }
  const Device device = test_device("cpu");
  const auto file =
      GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" + GetParam() + ".gguf");
  const llama::Model model = llama::load_model(device, file, kPrompt + 1);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    GraphExecutor executor(device, {.precision = precision});
    bench::LlamaRun run(executor, model, llama::Mode::recorded);
    run.prompt(0, kPrompt, kPrompt);
    run.generate(kPrompt, 1);
    std::set<std::string_view> taken;
    for (const auto& [rows, captured] : run.graphs()) {
      const ComputeGraph& graph = captured.graph();
      for (const Node& node : graph.nodes) {
        if (with_kernel.contains(node.op->name)) {
          EXPECT_TRUE(takes(graph, node, precision)) << node.op->name << ", " << rows << " rows";
          taken.insert(node.op->name);
        }
      }
    }
    EXPECT_GE(taken.size(), 8U);
  }
}

class KernelsTakenInNetworks : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, KernelsTakenInNetworks, ::testing::ValuesIn(bench::network_names()),
                         [](const auto& p) { return p.param; });

TEST_P(KernelsTakenInNetworks, ByEveryCall) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  GraphSession session = executor.begin_recorded();
  bench::record_network(session, device, GetParam());
  const CapturedGraph captured = session.finish({.run = false}).graph;
  for (const Node& node : captured.graph().nodes) {
    EXPECT_TRUE(takes(captured.graph(), node, Precision::exact)) << node.op->name;
  }
}

TEST(ReferencesOfTheCpu, AreThoseThatThePageOfOpsGivesAReasonFor) {
  std::ifstream file(REPRISE_OPS_PAGE);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::size_t section = page.find("\n## References on the CPU\n");
  ASSERT_NE(section, std::string::npos);
  for (const NamedCases& op : all_op_cases()) {
    const bool listed = page.find("\n| " + std::string(op.op) + " |", section) != std::string::npos;
    const bool has_kernel = std::ranges::any_of(
        cpu::all_kernels(), [&](const cpu::NamedKernel& kernel) { return kernel.op == op.op; });
    EXPECT_NE(listed, has_kernel) << op.op;
  }
}

}  // namespace
}  // namespace reprise::testing
