// Every op row on every backend, against the references, replayed and direct: one test each.
#include <algorithm>
#include <cstdio>

#include "framework/core/op.h"
#include "reprise/ops/op_named.h"
#include "reprise/session/support.h"
#include "tests/ops/case_run.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

constexpr const char* kBackends[] = {"cpu", "vulkan"};

class OpConformance : public ::testing::Test {
 public:
  OpConformance(OpCase row, std::string backend)
      : row_(std::move(row)), backend_(std::move(backend)) {}
  void TestBody() override {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    const CaseOutputs expected = run_case(test_device("reference"), row_, false, seed);
    const Device device = test_device(backend_);
    const ExpectNoValidationMessages quiet;
    const CaseOutputs recorded = run_case(device, row_, true, seed);
    expect_close(expected, recorded, row_);
    EXPECT_TRUE(recorded == run_case(device, row_, false, seed))
        << "direct and replayed outputs differ";
  }

 private:
  OpCase row_;
  std::string backend_;
};

const bool kRegisteredRows = [] {
  for (const NamedCases& op : all_op_cases()) {
    for (const OpCase& row : op.cases()) {
      for (const std::string backend : kBackends) {
        const std::string suite = "Op_" + std::string(op.op);
        const std::string name = row.label + "_" + backend;
        ::testing::RegisterTest(
            suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [row, backend]() -> OpConformance* { return new OpConformance(row, backend); });
      }
    }
  }
  return true;
}();

TEST(Ops, AreSaidToBeSupportedAndWhyNotByAKernel) {
  for (const std::string name : {"cpu", "vulkan", "reference"}) {
    const Device device = test_device(name);
    for (const NamedCases& op : all_op_cases()) {
      const OpCase row = op.cases().front();
      for (const NodeSupport& node : support_of_case(device, row)) {
        SCOPED_TRACE(name + ", " + std::string(op.op) + " " + row.label + ": " + node.op);
        EXPECT_NE(node.support.kind, SupportKind::unsupported) << node.support.reason;
        EXPECT_EQ(node.support.kind == SupportKind::native, node.support.reason.empty());
        EXPECT_TRUE(name != "reference" || node.support.kind == SupportKind::lowered);
      }
    }
  }
}

TEST(Ops, EveryOpHasRows) {
  ASSERT_TRUE(kRegisteredRows);
  const auto rows = all_op_cases();
  std::size_t count = 0;
  for (const OpDef* op : library_ops()) {
    const auto it = std::ranges::find(rows, op->name, &NamedCases::op);
    ASSERT_NE(it, rows.end()) << op->name;
    EXPECT_FALSE(it->cases().empty()) << op->name;
    count += it->cases().size();
  }
  std::printf("%zu rows of %zu ops, each on %zu backends\n", count, library_ops().size(),
              std::size(kBackends));
}

}  // namespace
}  // namespace reprise::testing
