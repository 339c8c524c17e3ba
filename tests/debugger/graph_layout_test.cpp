#include "debugger/model/graph_layout.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

struct Graph {
  std::vector<LayoutSize> boxes;
  std::vector<LayoutEdge> edges;
};

Graph of_equal_boxes(std::size_t boxes, std::vector<LayoutEdge> edges) {
  return {std::vector<LayoutSize>(boxes, {100, 40}), std::move(edges)};
}

GraphLayout layout_of(const Graph& graph) { return layout_graph(graph.boxes, graph.edges); }

Graph random_graph(std::mt19937_64& rng) {
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return low + rng() % (high - low + 1);
  };
  Graph graph;
  const std::uint64_t boxes = between(1, 300);
  for (std::uint64_t i = 0; i < boxes; ++i) {
    graph.boxes.push_back(
        {static_cast<float>(between(1, 300)), static_cast<float>(between(1, 100))});
  }
  const std::uint64_t reach = between(1, boxes);
  for (std::uint64_t i = between(0, 3 * boxes); i > 0 && boxes > 1; --i) {
    const std::uint64_t src = between(0, boxes - 2);
    const std::uint64_t dst = between(src + 1, std::min(boxes - 1, src + reach));
    graph.edges.push_back({static_cast<std::uint32_t>(src), static_cast<std::uint32_t>(dst)});
  }
  return graph;
}

void expect_no_overlap(const Graph& graph, const GraphLayout& layout) {
  for (std::size_t a = 0; a < graph.boxes.size(); ++a) {
    for (std::size_t b = a + 1; b < graph.boxes.size(); ++b) {
      const bool apart_x = layout.boxes[a].x + graph.boxes[a].width < layout.boxes[b].x ||
                           layout.boxes[b].x + graph.boxes[b].width < layout.boxes[a].x;
      const bool apart_y = layout.boxes[a].y + graph.boxes[a].height < layout.boxes[b].y ||
                           layout.boxes[b].y + graph.boxes[b].height < layout.boxes[a].y;
      ASSERT_TRUE(apart_x || apart_y) << "boxes " << a << " and " << b;
    }
  }
}

void expect_routes(const Graph& graph, const GraphLayout& layout) {
  constexpr float kNear = 0.05F;
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto [src, dst] = graph.edges[i];
    ASSERT_LT(layout.ranks[src], layout.ranks[dst]);
    ASSERT_GE(layout.routes[i].count, 2U);
    const LayoutPoint* points = layout.points.data() + layout.routes[i].first;
    const LayoutPoint& start = points[0];
    const LayoutPoint& end = points[layout.routes[i].count - 1];
    ASSERT_NEAR(start.y, layout.boxes[src].y + graph.boxes[src].height, kNear);
    ASSERT_NEAR(end.y, layout.boxes[dst].y, kNear);
    ASSERT_GE(start.x, layout.boxes[src].x - kNear);
    ASSERT_LE(start.x, layout.boxes[src].x + graph.boxes[src].width + kNear);
    ASSERT_GE(end.x, layout.boxes[dst].x - kNear);
    ASSERT_LE(end.x, layout.boxes[dst].x + graph.boxes[dst].width + kNear);
    for (std::uint32_t p = 0; p < layout.routes[i].count; ++p) {
      ASSERT_TRUE(p == 0 || points[p].y >= points[p - 1].y - kNear);
      ASSERT_GE(points[p].x, layout.min.x - kNear);
      ASSERT_LE(points[p].x, layout.max.x + kNear);
      ASSERT_GE(points[p].y, layout.min.y - kNear);
      ASSERT_LE(points[p].y, layout.max.y + kNear);
    }
  }
}

/// No vertical part of a route lies in a box; those between ranks run in the gaps.
void expect_routes_pass_boxes(const Graph& graph, const GraphLayout& layout) {
  for (const GraphLayout::Route& route : layout.routes) {
    for (std::uint32_t p = 1; p < route.count; ++p) {
      const LayoutPoint& from = layout.points[route.first + p - 1];
      const LayoutPoint& to = layout.points[route.first + p];
      for (std::size_t b = 0; b < graph.boxes.size() && from.x == to.x; ++b) {
        const bool across_x =
            from.x > layout.boxes[b].x && from.x < layout.boxes[b].x + graph.boxes[b].width;
        const bool across_y = to.y > layout.boxes[b].y + 0.05F &&
                              from.y < layout.boxes[b].y + graph.boxes[b].height - 0.05F;
        ASSERT_FALSE(across_x && across_y) << "box " << b;
      }
    }
  }
}

TEST(GraphLayout, KeepsItsPromisesForRandomGraphs) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 rng(seed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = random_graph(rng);
    const GraphLayout layout = layout_of(graph);
    ASSERT_EQ(layout.boxes.size(), graph.boxes.size());
    expect_no_overlap(graph, layout);
    expect_routes(graph, layout);
    expect_routes_pass_boxes(graph, layout);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(GraphLayout, OfTheSameGraphIsTheSame) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 rng(seed);
  const Graph graph = random_graph(rng);
  const GraphLayout a = layout_of(graph), b = layout_of(graph);
  EXPECT_EQ(a.boxes, b.boxes);
  EXPECT_EQ(a.points, b.points);
}

TEST(GraphLayout, AChainIsAStraightColumn) {
  std::vector<LayoutEdge> edges;
  for (std::uint32_t i = 0; i + 1 < 50; ++i) {
    edges.push_back({i, i + 1});
  }
  const GraphLayout layout = layout_of(of_equal_boxes(50, edges));
  for (std::uint32_t i = 1; i < 50; ++i) {
    EXPECT_EQ(layout.boxes[i].x, layout.boxes[0].x);
    EXPECT_GT(layout.boxes[i].y, layout.boxes[i - 1].y);
  }
  EXPECT_EQ(layout.routes[0].count, 2U);
}

TEST(GraphLayout, TwoChainsThatWereRecordedInterleavedDoNotCross) {
  std::vector<LayoutEdge> edges;
  for (std::uint32_t i = 0; i + 3 < 40; i += 2) {
    // Places in the recorded order alternate, so that the order of boxes alone would cross.
    const std::uint32_t swap = (i / 2) % 2;
    edges.push_back({i + swap, i + 3 - swap});
    edges.push_back({i + 1 - swap, i + 2 + swap});
  }
  const GraphLayout layout = layout_of(of_equal_boxes(40, edges));
  for (const auto& [src, dst] : edges) {
    EXPECT_EQ(layout.boxes[src].x, layout.boxes[dst].x);
  }
}

TEST(GraphLayout, ABoxWithoutSourcesStandsRightAboveItsReader) {
  const GraphLayout layout = layout_of(of_equal_boxes(5, {{0, 2}, {2, 3}, {3, 4}, {1, 4}}));
  EXPECT_EQ(layout.ranks[1], layout.ranks[4] - 1);
}

TEST(GraphLayout, EdgesOverManyRanksRunAtTheSide) {
  std::vector<LayoutEdge> edges;
  for (std::uint32_t i = 0; i + 1 < 60; ++i) {
    edges.push_back({i, i + 1});
  }
  edges.push_back({2, 58});
  const GraphLayout layout = layout_of(of_equal_boxes(60, edges));
  ASSERT_TRUE(layout.routes.back().at_side);
  EXPECT_FALSE(layout.routes.front().at_side);
  float leftmost = 0;
  for (const LayoutPoint& box : layout.boxes) {
    leftmost = std::min(leftmost, box.x);
  }
  const LayoutPoint* points = layout.points.data() + layout.routes.back().first;
  EXPECT_LT(points[2].x, leftmost);
}

TEST(GraphLayout, ABoxReadByAllOthersNeedsFewWaypoints) {
  Graph graph = of_equal_boxes(5000, {});
  for (std::uint32_t i = 1; i < 5000; ++i) {
    graph.edges.push_back({i - 1, i});
    graph.edges.push_back({0, i});
  }
  const GraphLayout layout = layout_of(graph);
  EXPECT_LT(layout.points.size(), 60'000U);
}

TEST(GraphLayout, IgnoresEdgesThatDoNotLeadForwards) {
  const GraphLayout layout = layout_of(of_equal_boxes(2, {{1, 0}, {0, 0}, {0, 7}, {9, 1}, {0, 1}}));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(layout.routes[i].count, 0U);
  }
  EXPECT_EQ(layout.routes[4].count, 2U);
}

TEST(GraphLayout, OfNothingIsEmpty) { EXPECT_TRUE(layout_graph({}, {}).boxes.empty()); }

TEST(GraphLayout, BoxesWithoutEdgesFillSeveralRanks) {
  const GraphLayout layout = layout_of(of_equal_boxes(100, {}));
  EXPECT_EQ(*std::max_element(layout.ranks.begin(), layout.ranks.end()), 9U);
}

}  // namespace
}  // namespace reprise::debugger
