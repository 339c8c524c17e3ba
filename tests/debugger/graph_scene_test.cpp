#include "debugger/model/graph_scene.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "debugger/model/item_times.h"
#include "tests/debugger/synthetic_capture.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

TEST(GraphScene, FramesHoldTheirBoxesAndNoOthersWhateverIsFolded) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 rng(seed);
  const Capture capture = testing::decoder_capture(4);
  const ScopeTree scopes(capture);
  FoldState folds(scopes);
  for (int round = 0; round < 40; ++round) {
    folds.toggle(static_cast<std::uint32_t>(rng() % scopes.items().size()));
    const GraphScene scene = graph_scene(capture, scopes, folds);
    for (const GraphScene::Frame& frame : scene.frames) {
      const ScopeTree::Item& item = scopes[frame.item];
      for (std::size_t b = 0; b < scene.boxes.size(); ++b) {
        const std::uint32_t node = scene.graph.boxes[b].first;
        const bool inside = node >= item.first && node < item.first + item.count;
        ASSERT_EQ(frame.rect.overlaps(scene.boxes[b].rect), inside);
        ASSERT_EQ(frame.rect.contains(scene.boxes[b].rect), inside);
      }
    }
  }
}

TEST(GraphScene, FramesOfADecoderLieInEachOther) {
  const Capture capture = testing::decoder_capture(2);
  const ScopeTree scopes(capture);
  FoldState folds(scopes);
  folds.unfold_all();
  const GraphScene scene = graph_scene(capture, scopes, folds);
  ASSERT_EQ(scene.frames.size(), 7U);  // layer.*, two layers, attn and ffn of each
  for (const GraphScene::Frame& frame : scene.frames) {
    const std::uint32_t outer = scopes[frame.item].parent;
    const auto around = std::find_if(scene.frames.begin(), scene.frames.end(),
                                     [&](const auto& other) { return other.item == outer; });
    ASSERT_TRUE(outer == 0 || around->rect.contains(frame.rect)) << frame.label;
  }
}

TEST(GraphScene, NamesFromAFileAreMadePrintableAndShort) {
  const std::string hostile = "\x1B[2J\xFF%s##" + std::string(1 << 20, 'x');
  const Capture capture = testing::chain_capture({{"", hostile}});
  const ScopeTree scopes(capture);
  const GraphScene scene = graph_scene(capture, scopes, FoldState(scopes));
  EXPECT_TRUE(scene.boxes[0].label.starts_with("?[2J?%s##x"));
  EXPECT_LT(scene.boxes[0].label.size(), 200U);
  EXPECT_LT(scene.boxes[0].inputs.at(0).size(), 200U);
}

TEST(GraphScene, OfNoNodesIsEmpty) {
  EXPECT_TRUE(graph_scene(Capture(), ScopeTree(), FoldState()).empty());
}

TEST(ItemTimes, AreSumsOfMediansAndSharesOfTheirSum) {
  CaptureStatistics statistics;
  for (const std::uint64_t p50 : {10U, 20U, 30U}) {
    NodeTiming timing;
    timing.p50_ns = p50;
    timing.total_ns = 40 - p50;  // does not count: an outlier is in it
    statistics.nodes.emplace_back(timing);
  }
  statistics.nodes[1].reset();
  const ItemTimes times(statistics, 3);
  EXPECT_EQ(times.of(0, 2), 10U);
  EXPECT_EQ(times.of(1, 2), 30U);
  EXPECT_DOUBLE_EQ(times.share(0, 3), 1);
  EXPECT_DOUBLE_EQ(times.share(1, 2), 0.75);
}

TEST(ItemTimes, AreUnknownWithoutTimesOrOfAnotherGraph) {
  CaptureStatistics statistics;
  EXPECT_FALSE(ItemTimes(statistics, 2).known());
  statistics.nodes.resize(2);
  EXPECT_FALSE(ItemTimes(statistics, 2).known());
  statistics.nodes[0].emplace();
  EXPECT_FALSE(ItemTimes(statistics, 3).known());
  EXPECT_TRUE(ItemTimes(statistics, 2).known());
}

}  // namespace
}  // namespace reprise::debugger
