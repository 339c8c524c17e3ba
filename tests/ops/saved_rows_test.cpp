// Every op row as a graph in a file: with all of its attributes, and the plan that was saved.
#include <algorithm>
#include <set>

#include "framework/core/op.h"
#include "reprise/ops/movement.h"
#include "reprise/ops/op_named.h"
#include "reprise/session/saved_graphs.h"
#include "tests/ops/case_run.h"
#include "tests/ops/op_calls.h"
#include "tests/ops/op_case_table.h"
#include "tests/profile/recorded_graphs.h"

namespace reprise::testing {
namespace {

class SavedRows : public ::testing::Test {
 public:
  explicit SavedRows(const NamedCases& op) : op_(op) {}
  void TestBody() override {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(seed_note(seed));
    for (const OpCase& row : op_.cases()) {
      SCOPED_TRACE(row.label);
      const Device device = test_device("cpu");
      EXPECT_TRUE(run_saved_case(device, row, seed) == run_case(device, row, true, seed))
          << "outputs of the graph in the file differ";
    }
  }

 private:
  NamedCases op_;
};

const bool kRegisteredSavedRows = [] {
  for (const NamedCases& op : all_op_cases()) {
    ::testing::RegisterTest(("SavedRows_" + std::string(op.op)).c_str(), "GiveTheSameBits", nullptr,
                            nullptr, __FILE__, __LINE__,
                            [op]() -> SavedRows* { return new SavedRows(op); });
  }
  return true;
}();

// An attribute that has one value in all rows would not be missed in a file.
TEST(SavedRowsOfOps, HaveEveryAttributeWithSeveralValues) {
  ASSERT_TRUE(kRegisteredSavedRows);
  for (const OpDef* op : library_ops()) {
    const std::vector<OpCallOfRow> calls = calls_of(*op);
    for (const Attribute& attribute : op->attributes) {
      std::set<Bytes> values;
      for (const OpCallOfRow& call : calls) {
        const auto from = call.attributes.begin() + static_cast<std::ptrdiff_t>(attribute.offset);
        values.insert(Bytes(from, from + static_cast<std::ptrdiff_t>(size_of(attribute.type))));
      }
      // SavedExtents has another value of the attribute that no row sets.
      const bool is_set = op->name != "repeat" || attribute.name != "extent";
      EXPECT_EQ(values.size() > 1U, is_set) << op->name << ": " << attribute.name;
    }
  }
}

struct NoAttributes {};

// Files hold what the schema names: a field that it does not would come back as zeros.
TEST(SavedRowsOfOps, NameAllOfTheirAttributes) {
  for (const OpDef* op : library_ops()) {
    std::vector<Attribute> attributes(op->attributes.begin(), op->attributes.end());
    std::ranges::sort(attributes, {}, &Attribute::offset);
    std::size_t end = 0;
    for (const Attribute& attribute : attributes) {
      const std::size_t aligned =
          attribute.type == AttributeType::boolean ? end : (end + 3) / 4 * 4;
      EXPECT_EQ(attribute.offset, aligned)
          << op->name << " has something unnamed before " << attribute.name;
      end = attribute.offset + size_of(attribute.type);
    }
    for (const OpCallOfRow& call : calls_of(*op)) {
      const std::size_t named = std::max<std::size_t>((end + 3) / 4 * 4, sizeof(NoAttributes));
      EXPECT_LE(call.attributes.size(), named) << op->name << " has something unnamed at its end";
    }
  }
}

TEST(SavedExtents, AreThoseOfTheGraph) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  const test::TempFolder folder;
  const StateBlock state(device, StateLayout().host("other", 1).host("rows", 1));
  auto s = executor.begin_recorded({.state = state, .extents = {{"rows", 8}}});
  const Tensor x = s.input("x", {s.extent("rows"), 2}, std::vector<float>{0, 0});
  s.output("y", repeat(s, x, Shape({8, 4}).with_extent(s.extent("rows").word)));
  s.finish({.run = false}).graph.save(folder / "graph");
  LoadedGraph loaded = executor.load_graph(folder / "graph", {.state = state});
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  state.set("rows", 3);
  loaded.graph.set_input("x", std::vector<float>{1, 2, 3, 4, 5, 6});
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("y"), (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6}));
}

}  // namespace
}  // namespace reprise::testing
