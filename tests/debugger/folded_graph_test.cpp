#include "debugger/model/folded_graph.h"

#include <gtest/gtest.h>

#include "tests/debugger/synthetic_capture.h"

namespace reprise::debugger {
namespace {

struct Folded {
  Capture capture;
  ScopeTree scopes{capture};
  FoldState folds{scopes};
  FoldedGraph graph() const { return folded_graph(capture, scopes, folds); }
};

Folded decoder(std::size_t layers) { return {.capture = testing::decoder_capture(layers)}; }

std::vector<std::string> labels_of(const FoldedGraph& graph) {
  std::vector<std::string> labels;
  for (const FoldedGraph::Box& box : graph.boxes) {
    labels.push_back(box.label + " " + box.detail);
  }
  return labels;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const FoldedGraph& graph) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const FoldedGraph::Edge& edge : graph.edges) {
    pairs.emplace_back(edge.src, edge.dst);
  }
  return pairs;
}

TEST(FoldedGraph, OfADecoderIsItsRepeatedLayersAndWhatIsAroundThem) {
  const FoldedGraph graph = decoder(32).graph();
  EXPECT_EQ(labels_of(graph),
            (std::vector<std::string>{"get_rows f32 [1, 64]",
                                      "layer.* \xC3\x97"
                                      "32 \xC2\xB7 608 ops",
                                      "rms_norm f32 [1, 64]", "matmul f32 [1, 64]"}));
  EXPECT_EQ(pairs_of(graph),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(graph.boxes[1].repeats, 32U);
}

TEST(FoldedGraph, UnfoldingAGroupConnectsItsLayers) {
  Folded folded = decoder(3);
  folded.folds.toggle(folded.scopes[0].children[1]);
  const FoldedGraph graph = folded.graph();
  EXPECT_EQ(labels_of(graph)[1], "layer.0 19 ops");
  EXPECT_EQ(pairs_of(graph), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                                 {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
}

TEST(FoldedGraph, MergedEdgesCountTensorsAndBytes) {
  Folded folded{.capture = testing::chain_capture({{"x", "a"}, {"x", "b"}, {"y", "c"}})};
  folded.capture.edges.push_back({0, 2, 1, "RAW"});  // what a wrote
  folded.capture.edges.push_back({0, 2, 1, "WAR"});
  const FoldedGraph graph = folded.graph();
  ASSERT_EQ(graph.edges.size(), 2U);
  EXPECT_TRUE(graph.edges[0].data);
  EXPECT_EQ(graph.edges[0].tensors, 2U);
  EXPECT_EQ(graph.edges[0].bytes, 512U);
  EXPECT_FALSE(graph.edges[1].data);
  EXPECT_EQ(graph.edges[1].tensors, 1U);
}

TEST(FoldedGraph, WhatStandsInForAStateThatTheSessionHasNotIsNotNamed) {
  Folded folded{.capture = testing::chain_capture({{"", "plan"}, {"", "rope"}})};
  folded.capture.tensors[1].role = "state";
  folded.capture.tensors[1].name = "empty state";
  EXPECT_EQ(folded.graph().boxes[1].inputs.size(), 1U);  // its weight
  folded.capture.state_fields.emplace_back();
  EXPECT_EQ(folded.graph().boxes[1].inputs.size(), 2U);
}

TEST(FoldedGraph, WeightsAreNamedAtTheirReaders) {
  const Folded folded{.capture = testing::chain_capture({{"x", "a"}, {"x", "b"}, {"", "c"}})};
  const FoldedGraph graph = folded.graph();
  ASSERT_EQ(graph.boxes[0].inputs.size(), 2U);
  EXPECT_EQ(folded.capture.tensors[graph.boxes[0].inputs[0]].name, "a.weight");
  EXPECT_EQ(folded.capture.tensors[graph.boxes[1].inputs.at(0)].name, "c.weight");
}

TEST(FoldedGraph, ViewsCountAsWhatTheyView) {
  Folded folded{.capture = testing::chain_capture({{"", "a"}, {"", "b"}})};
  const auto view = static_cast<std::uint32_t>(folded.capture.tensors.size());
  folded.capture.tensors.push_back(folded.capture.tensors[1]);  // what a wrote
  folded.capture.tensors[view].alias_of = 1;
  folded.capture.operands[folded.capture.nodes[1].operands.first + 1].tensor = view;
  folded.capture.edges.push_back({0, 1, view, "RAW"});
  const FoldedGraph graph = folded.graph();
  EXPECT_EQ(graph.boxes[1].inputs.size(), 1U);
  EXPECT_EQ(graph.edges.at(0).tensors, 1U);
}

TEST(FoldedGraph, TheStateBlockIsNamedThoughANodeWritesIt) {
  Folded folded{.capture = testing::chain_capture({{"", "plan"}, {"", "rope"}})};
  folded.capture.tensors[1].role = "state";
  const FoldedGraph graph = folded.graph();
  EXPECT_EQ(graph.boxes[1].inputs.size(), 2U);
  EXPECT_TRUE(graph.edges.empty());
}

TEST(FoldedGraph, BarriersInABoxAreCountedOnIt) {
  const Folded folded{.capture = testing::chain_capture({{"x", "a"}, {"x", "b"}, {"y", "c"}})};
  const FoldedGraph graph = folded.graph();
  EXPECT_EQ(graph.boxes[0].barriers, std::vector<std::uint32_t>{0});
  ASSERT_EQ(graph.barriers.size(), 1U);
  EXPECT_EQ(graph.barriers[0].src, 0U);
  EXPECT_EQ(graph.barriers[0].dst, 1U);
  EXPECT_EQ(graph.barriers[0].barriers, std::vector<std::uint32_t>{1});
}

TEST(FoldedGraph, BarriersWithoutACauseBelongToTheStepTheyComeBefore) {
  Folded folded{.capture = testing::chain_capture({{"x", "a"}, {"y", "b"}})};
  folded.capture.barriers[0].cause_src.reset();
  folded.capture.barriers[0].cause_dst.reset();
  EXPECT_EQ(folded.graph().boxes[1].barriers.size(), 1U);
}

TEST(FoldedGraph, ATensorThatClaimsToViewALaterOneStandsForItself) {
  Folded folded{.capture = testing::chain_capture({{"", "a"}, {"", "b"}})};
  folded.capture.tensors[0].alias_of = 2;
  folded.capture.tensors[2].alias_of = 0;
  EXPECT_EQ(folded.graph().boxes.size(), 2U);
}

}  // namespace
}  // namespace reprise::debugger
