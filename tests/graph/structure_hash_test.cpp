// Which recordings are the same, and which node is the first that is not.
#include "framework/graph/structure_hash.h"

#include <gmock/gmock.h>

#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct Pass {
  std::string input = "x", scope = "mlp";
  float eps = 1e-5F;
  std::int64_t rows = 2;
  bool twice = false, plain = false;
};

class Structures : public ::testing::Test {
 protected:
  CapturedGraph record(const Pass& pass) {
    auto s = executor_.begin_recorded();
    const std::vector<float> zeros(static_cast<std::size_t>(4 * pass.rows));
    const Tensor x = s.input(pass.input, {pass.rows, 4}, zeros);
    Tensor y = mul(s, x, x);
    {
      const auto scope = s.scope(pass.scope);
      y = rms_norm(s, y, weight_, {.eps = pass.eps});
    }
    y = pass.plain ? mul(s, x, y) : add(s, x, y);
    s.output("y", pass.twice ? add(s, y, y) : y);
    return s.finish({.run = false}).graph;
  }
  static GraphStructure structure(const CapturedGraph& graph) {
    return structure_of(graph.graph());
  }
  /// Of a pass and the default one.
  std::optional<std::uint32_t> difference(const Pass& pass) {
    return first_difference(structure(record({})).nodes, structure(record(pass)).nodes);
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  Tensor weight_ = device_.from_host({4}, std::vector<float>(4, 1), "weight");
};

TEST_F(Structures, AreTheSameUnderOtherNames) {
  EXPECT_EQ(structure(record({})).hash, structure(record({.input = "hidden"})).hash);
  EXPECT_EQ(difference({.input = "hidden"}), std::nullopt);
}

TEST_F(Structures, DifferFirstWhereAnAttributeDoes) {
  EXPECT_EQ(difference({.eps = 1e-6F}), 1U);
  EXPECT_NE(structure(record({})).hash, structure(record({.eps = 1e-6F})).hash);
}

TEST_F(Structures, DifferFirstWhereAScopeDoes) { EXPECT_EQ(difference({.scope = "attn"}), 1U); }

TEST_F(Structures, DifferFirstWhereAShapeDoes) { EXPECT_EQ(difference({.rows = 3}), 0U); }

TEST_F(Structures, DifferFirstWhereAnotherOpIs) { EXPECT_EQ(difference({.plain = true}), 2U); }

TEST_F(Structures, DifferPastTheEndOfTheShorterOne) {
  // The last node of the shorter pass writes an output; that of the longer one does not.
  EXPECT_EQ(difference({.twice = true}), 2U);
  const GraphStructure all = structure(record({}));
  const std::span<const NodeSignature> nodes = all.nodes;
  EXPECT_EQ(first_difference(nodes, nodes.first(2)), 2U);
  EXPECT_EQ(first_difference(nodes.first(1), nodes), 1U);
}

TEST_F(Structures, ANodeIsNamedWithItsOpScopeAndLine) {
  const CapturedGraph graph = record({});
  const std::string text = describe_node(graph.graph(), 1);
  EXPECT_NE(text.find("op 1 rms_norm (mlp), "), std::string::npos) << text;
  EXPECT_NE(text.find("structure_hash_test.cpp:"), std::string::npos) << text;
  EXPECT_EQ(describe_node(graph.graph(), 3), "no op 3");
}

TEST_F(Structures, AttributesInTheStateCountByTheNameOfTheField) {
  const auto with_field = [&](StateLayout layout) {
    const StateBlock state(device_, std::move(layout));
    auto s = executor_.begin_recorded({.state = state});
    s.output("y", get_rows(s, device_.zeros({4, 2}, DType::f32, "table"), s.state("row")));
    return structure(s.finish({.run = false}).graph).hash;
  };
  EXPECT_EQ(with_field(StateLayout().host("row")), with_field(StateLayout().host("a").host("row")));
}

TEST_F(Structures, ADifferenceIsDescribedWhereAnotherTensorIsRead) {
  const Tensor a = device_.zeros({8, 4}, DType::f32, "a"),
               b = device_.zeros({8, 4}, DType::f32, "b");
  const auto sum = [&](const Tensor& first, const Tensor& second) {  // as two compilers do it
    auto s = executor_.begin_recorded();
    const Tensor x = get_rows(s, first, 1);
    const Tensor y = get_rows(s, second, 1);
    s.output("y", &first == &a ? add(s, x, y) : add(s, y, x));
    return s.finish({.run = false}).graph;
  };
  const CapturedGraph left = sum(a, b), right = sum(b, a);
  EXPECT_EQ(first_difference(structure(left).nodes, structure(right).nodes), 2U);
  EXPECT_THAT(describe_difference(left.graph(), right.graph()),
              ::testing::AllOf(::testing::StartsWith("op 0 get_rows, "),
                               ::testing::EndsWith("table is 'a' f32 [8, 4] and 'b' f32 [8, 4]")));
  CapturedGraph actual = sum(a, b), reference = sum(b, a);
  expect_error(ErrorCode::invalid_argument, {"differ first at op 0 get_rows", "'a'", "'b'"},
               [&] { (void)compare_numerics(actual, reference); });
}

}  // namespace
}  // namespace reprise::testing
