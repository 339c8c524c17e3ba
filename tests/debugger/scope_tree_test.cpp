#include "debugger/model/scope_tree.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "debugger/model/fold_state.h"
#include "tests/debugger/synthetic_capture.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using Nodes = std::vector<std::pair<std::string, std::string>>;

/// The tree as text: "group layer.*[scope layer.0[node a] scope layer.1[node a]]".
std::string text_of(const ScopeTree& tree, std::uint32_t item = 0) {
  constexpr const char* kKinds[] = {"root", "group", "scope", "node"};
  std::string text = std::string(kKinds[static_cast<int>(tree[item].kind)]) + " " + tree[item].name;
  if (!tree[item].children.empty()) {
    text += "[";
    for (const std::uint32_t child : tree[item].children) {
      text += (text.back() == '[' ? "" : ", ") + text_of(tree, child);
    }
    text += "]";
  }
  return text;
}

std::string tree_of(const Nodes& nodes) {
  return text_of(ScopeTree(testing::chain_capture(nodes)));
}

TEST(ScopeTree, OfACaptureWithoutNodesIsEmpty) { EXPECT_TRUE(ScopeTree(Capture()).empty()); }

TEST(ScopeTree, NestsScopesAndKeepsNodesWithoutOneAtTheTop) {
  EXPECT_EQ(tree_of({{"", "a"}, {"x/y", "b"}, {"x", "c"}}),
            "root [node a, scope x[scope y[node b], node c]]");
}

TEST(ScopeTree, AScopeThatIsEnteredAgainIsTwoItems) {
  const ScopeTree tree(testing::chain_capture({{"x", "a"}, {"y", "b"}, {"x", "c"}}));
  EXPECT_EQ(text_of(tree), "root [scope x[node a], scope y[node b], scope x[node c]]");
  EXPECT_EQ(tree[tree.item_of_node(2)].path, "x/c");
}

TEST(ScopeTree, NeighboursThatDifferInANumberAndHoldTheSameOpsAreAGroup) {
  EXPECT_EQ(tree_of({{"layer.9", "a"}, {"layer.10", "a"}, {"layer.11", "b"}}),
            "root [group layer.*[scope layer.9[node a], scope layer.10[node a]], "
            "scope layer.11[node b]]");
}

TEST(ScopeTree, ScopesThatDifferInTwoNumbersAreNoGroup) {
  EXPECT_EQ(tree_of({{"a.0.b.0", "x"}, {"a.1.b.1", "x"}}),
            "root [scope a.0.b.0[node x], scope a.1.b.1[node x]]");
}

TEST(ScopeTree, AGroupCountsInOneNumberOnly) {
  EXPECT_EQ(tree_of({{"a.0.b.0", "x"}, {"a.0.b.1", "x"}, {"a.1.b.0", "x"}, {"a.2.b.0", "x"}}),
            "root [group a.0.b.*[scope a.0.b.0[node x], scope a.0.b.1[node x]], "
            "group a.*.b.0[scope a.1.b.0[node x], scope a.2.b.0[node x]]]");
}

TEST(ScopeTree, GroupsLieInGroups) {
  Nodes nodes;
  for (const char* layer : {"l0", "l1"}) {
    for (const char* head : {"/h0", "/h1", "/h2"}) {
      nodes.emplace_back(std::string(layer) + head, "a");
    }
  }
  EXPECT_EQ(
      tree_of(nodes),
      "root [group l*[scope l0[group h*[scope h0[node a], scope h1[node a], scope h2[node a]]], "
      "scope l1[group h*[scope h0[node a], scope h1[node a], scope h2[node a]]]]]");
}

TEST(ScopeTree, EmptyPartsOfAScopeAreNoScopes) {
  EXPECT_EQ(tree_of({{"/a//b/", "x"}, {"//", "y"}}), "root [scope a[scope b[node x]], node y]");
}

TEST(ScopeTree, VeryDeepScopesEndInOneName) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "a/";
  }
  const ScopeTree tree(testing::chain_capture({{deep, "x"}}));
  EXPECT_EQ(tree[tree.item_of_node(0)].depth, 65U);
}

TEST(ScopeTree, EveryItemIsTheRunOfItsChildren) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 rng(seed);
  Nodes nodes;
  for (int i = 0; i < 3000; ++i) {
    std::string scope;
    for (auto depth = rng() % 4; depth > 0; --depth) {
      scope += (scope.empty() ? "s" : "/s") + std::to_string(rng() % 3);
    }
    nodes.emplace_back(scope, rng() % 2 == 0 ? "a" : "b");
  }
  const ScopeTree tree(testing::chain_capture(nodes));
  ASSERT_EQ(tree[0].count, nodes.size());
  for (std::uint32_t i = 0; i < tree.items().size(); ++i) {
    const ScopeTree::Item& item = tree[i];
    if (item.kind == ScopeTree::Kind::node) {
      ASSERT_EQ(tree.item_of_node(item.first), i);
      ASSERT_TRUE(item.children.empty());
      continue;
    }
    std::uint32_t next = item.first;
    for (const std::uint32_t child : item.children) {
      ASSERT_GT(child, i);
      ASSERT_EQ(tree[child].parent, i);
      ASSERT_EQ(tree[child].depth, item.depth + 1);
      ASSERT_EQ(tree[child].first, next);
      next += tree[child].count;
    }
    ASSERT_EQ(next, item.first + item.count);
  }
}

TEST(FoldState, ShowsEveryNodeOnceWhateverIsFolded) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 rng(seed);
  const ScopeTree tree(testing::decoder_capture(6));
  FoldState folds(tree);
  for (int round = 0; round < 200; ++round) {
    folds.toggle(static_cast<std::uint32_t>(rng() % tree.items().size()));
    std::uint32_t next = 0;
    for (const std::uint32_t item : folds.visible(tree)) {
      ASSERT_EQ(tree[item].first, next);
      next += tree[item].count;
    }
    ASSERT_EQ(next, tree[0].count);
  }
}

TEST(FoldState, RevealShowsANodeInFoldedGroups) {
  const ScopeTree tree(testing::decoder_capture(3));
  FoldState folds(tree);
  const std::uint32_t item = tree.item_of_node(20);
  folds.reveal(tree, item);
  const std::vector<std::uint32_t> visible = folds.visible(tree);
  EXPECT_NE(std::find(visible.begin(), visible.end(), item), visible.end());
}

}  // namespace
}  // namespace reprise::debugger
