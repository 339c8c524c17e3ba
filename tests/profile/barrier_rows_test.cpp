// All causes of a barrier are in the file, with their tensors.
#include <set>
#include <sstream>

#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using test::sql;
using test::TempFolder;

class BarrierRows : public ::testing::Test {
 protected:
  void write(const std::shared_ptr<const ExecutionPlan>& recorded) const {
    const auto sink = open_profile(path_, {});
    sink->device(test::test_device());
    test::send_recording(*sink, recorded);
  }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
};

/// Every pair of touches that a barrier separates from the step it is for, found one by one.
std::set<std::string> causes_of(const ExecutionPlan& plan) {
  std::set<std::string> causes;
  std::uint32_t first = 0;
  for (std::size_t b = 0; b < plan.barriers.size(); ++b) {
    const std::uint32_t before = plan.barriers[b].before_step;
    for (std::uint32_t s = first; s < before; ++s) {
      for (const Binding& from : plan.steps.bindings(plan.steps[s])) {
        for (const Binding& to : plan.steps.bindings(plan.steps[before])) {
          const auto begin = std::max(from.offset, to.offset);
          const auto end = std::min(from.offset + from.bytes, to.offset + to.bytes);
          const bool written = writes(from.access) || writes(to.access);
          if (from.pool == to.pool && begin < end && written) {
            const char* kind = !writes(from.access) ? "WAR" : reads(to.access) ? "RAW" : "WAW";
            causes.insert(std::to_string(b) + "|" + std::to_string(s) + "|" + kind + "|" +
                          std::to_string(from.pool) + "|" + std::to_string(begin) + "|" +
                          std::to_string(end - begin));
          }
        }
      }
    }
    first = before;
  }
  return causes;
}

TEST_F(BarrierRows, AreThoseThatEveryPairOfStepsGives) {
  const auto recorded = test::GraphMaker({.scales = 5}).make();
  write(recorded);
  std::set<std::string> rows;
  std::istringstream lines(sql(path_,
                               "SELECT barrier, src_step, kind, pool_idx, offset_bytes, size_bytes "
                               "FROM barrier_causes"));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(rows.insert(line).second) << line << " is there twice";
  }
  EXPECT_EQ(rows, causes_of(*recorded));
}

// h = norm(x), s = add(x, x) and y = norm(s, h): the last step waits for the two before it.
TEST_F(BarrierRows, NameEveryTensorThatAStepWaitsFor) {
  const auto edit = [](ComputeGraph& graph) {
    constexpr std::uint32_t kX = 0, kH = 3;
    graph.uses[graph.nodes[1].first_use].tensor = kX;
    graph.uses[graph.nodes[2].first_use + 1].tensor = kH;
  };
  write(test::GraphMaker({.edit = edit}).make());
  EXPECT_EQ(
      sql(path_,
          "SELECT causes, tensors FROM v_barriers; SELECT cause_op, waiting_op, kind, tensor, "
          "shape_json FROM v_barrier_tensors ORDER BY src_step"),
      "2|layer.3/attn/norm,layer.3/add\n"
      "norm|norm|RAW|layer.3/attn/norm|[2,96]\n"
      "add|norm|RAW|layer.3/add|[2,96]");
}

}  // namespace
}  // namespace reprise::testing
