// Every op row on every backend, direct and recorded, against the references: one test each.
#include <algorithm>
#include <cstdio>

#include "framework/ops/op_table.h"
#include "tests/ops/case_run.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

struct Way {
  std::string_view name;
  std::string_view device;
  bool recorded;
};
constexpr Way kWays[] = {{"cpu_recorded", "cpu", true},
                         {"vulkan_direct", "vulkan", false},
                         {"vulkan_recorded", "vulkan", true}};

class OpConformance : public ::testing::Test {
 public:
  OpConformance(OpCase row, const Way& way) : row_(std::move(row)), way_(way) {}
  void TestBody() override {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    const CaseOutputs expected = run_case(test_device("reference"), row_, false, seed);
    const Device device = test_device(std::string(way_.device));
    const ExpectNoValidationMessages quiet;
    const CaseOutputs actual = run_case(device, row_, way_.recorded, seed);
    expect_close(expected, actual, row_);
    if (way_.recorded) {
      EXPECT_TRUE(actual == run_case(device, row_, false, seed))
          << "direct and replayed outputs differ";
    }
  }

 private:
  OpCase row_;
  Way way_;
};

const bool kRegistered = [] {
  for (const NamedCases& op : all_op_cases()) {
    for (const OpCase& row : op.cases()) {
      for (const Way& way : kWays) {
        const std::string suite = "Op_" + std::string(op.op);
        const std::string name = row.label + "_" + std::string(way.name);
        ::testing::RegisterTest(
            suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [row, way]() -> OpConformance* { return new OpConformance(row, way); });
      }
    }
  }
  return true;
}();

TEST(Ops, EveryOpHasRows) {
  ASSERT_TRUE(kRegistered);
  const auto rows = all_op_cases();
  std::size_t count = 0;
  for (const OpDef* op : ops::all_ops()) {
    const auto it = std::ranges::find(rows, op->name, &NamedCases::op);
    ASSERT_NE(it, rows.end()) << op->name;
    EXPECT_FALSE(it->cases().empty()) << op->name;
    count += it->cases().size();
  }
  std::printf("%zu rows of %zu ops, each in %zu ways\n", count, ops::all_ops().size(),
              std::size(kWays));
}

}  // namespace
}  // namespace reprise::testing
