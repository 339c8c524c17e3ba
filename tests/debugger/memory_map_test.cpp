#include "debugger/model/memory_map.h"

#include <algorithm>
#include <random>

#include "tests/debugger/panel_window.h"
#include "tests/debugger/recorded_database.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A capture of that many steps with an arena, pool 1, and a buffer, pool 0.
Capture planned(std::size_t steps, std::uint64_t arena_bytes) {
  Capture capture;
  capture.pools = {{"buffer", 4096}, {"arena", arena_bytes}};
  capture.steps.resize(steps);
  return capture;
}

/// The number of a new tensor of the arena.
std::uint32_t add(Capture& capture, std::uint64_t offset, std::uint64_t bytes, std::uint32_t first,
                  std::uint32_t last, std::optional<std::uint32_t> alias_of = {}) {
  Capture::Tensor tensor;
  tensor.role = "activation";
  tensor.pool = 1;
  tensor.offset_bytes = offset;
  tensor.bytes = bytes;
  tensor.first_step = first;
  tensor.last_step = last;
  tensor.alias_of = alias_of;
  capture.tensors.push_back(std::move(tensor));
  return static_cast<std::uint32_t>(capture.tensors.size() - 1);
}

/// "offset+bytes first-last: tensors" of each.
std::vector<std::string> texts(const MemoryMap& map) {
  std::vector<std::string> texts;
  for (const MemoryStorage& s : map.storages) {
    std::string text = std::to_string(s.offset) + "+" + std::to_string(s.bytes) + " " +
                       std::to_string(s.first_step) + "-" + std::to_string(s.last_step) + ":";
    for (const std::uint32_t tensor : s.tensors) {
      text += " " + std::to_string(tensor);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(MemoryMap, ViewsAndResultsOverTheirOperandAreOnePlace) {
  Capture capture = planned(9, 1024);
  const std::uint32_t x = add(capture, 0, 512, 1, 3);
  const std::uint32_t view = add(capture, 128, 128, 1, 3, x);
  add(capture, 0, 64, 1, 3, view);  // a view of a view
  add(capture, 512, 256, 1, 3);     // beside it
  add(capture, 0, 512, 4, 6);       // the same bytes later
  add(capture, 512, 512, 4, 8);     // an operand and, over it,
  add(capture, 512, 512, 4, 8);     // its result
  Capture::Tensor weight;           // of another pool
  weight.pool = 0;
  weight.bytes = 4096;
  capture.tensors.push_back(weight);
  const MemoryMap map = make_memory_map(capture);
  EXPECT_EQ(map.pool, 1U);
  EXPECT_EQ(map.bytes, 1024U);
  EXPECT_THAT(texts(map), ElementsAre("0+512 1-3: 0 1 2", "512+256 1-3: 3", "0+512 4-6: 4",
                                      "512+512 4-8: 5 6"));
  EXPECT_EQ(map.storage_of, (std::vector<std::optional<std::uint32_t>>{0, 0, 0, 1, 2, 3, 3, {}}));
  EXPECT_THAT(map.live, ElementsAre(0, 768, 768, 768, 1024, 1024, 1024, 512, 512));
  EXPECT_EQ(map.peak_step, 4U);
  EXPECT_EQ(map.peak_bytes, 1024U);
  EXPECT_EQ(map.greatest_bytes, 512U);
  EXPECT_EQ(map.left_out, 0U);
}

TEST(MemoryMap, WhatMakesNoSenseIsLeftOutAndCounted) {
  Capture capture = planned(4, 1024);
  add(capture, 0, 256, 2, 1);                                              // ends before it begins
  add(capture, 1000, 256, 0, 1);                                           // longer than the arena
  add(capture, std::numeric_limits<std::uint64_t>::max() / 2, 256, 0, 1);  // outside of it
  add(capture, 0, 256, 0, 1);
  capture.tensors[3].last_step.reset();
  add(capture, 256, 256, 0, 3);
  const MemoryMap map = make_memory_map(capture);
  EXPECT_EQ(map.left_out, 4U);
  EXPECT_THAT(texts(map), ElementsAre("256+256 0-3: 4"));
}

TEST(MemoryMap, OfACaptureWithoutAnArenaIsEmpty) {
  Capture capture = planned(3, 0);
  add(capture, 0, 0, 0, 1);
  capture.pools[1].kind = "weights";
  const MemoryMap map = make_memory_map(capture);
  EXPECT_EQ(map.pool, std::nullopt);
  EXPECT_THAT(map.storages, IsEmpty());
  EXPECT_EQ(map.storage_of.size(), 1U);
}

TEST(MemoryMap, BytesInUseAddUpToThePeakOfThePlan) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  const RecordedDatabase database({.scales = random() % 40}, random);
  const Capture recorded = read_capture(database.path(), database.id());
  EXPECT_EQ(make_memory_map(recorded).peak_bytes, recorded.live_peak_bytes);
  const SampleDatabase sample;
  const Capture decode = read_capture(sample.path(), {.run = 2, .graph = 2});
  const MemoryMap map = make_memory_map(decode);
  EXPECT_EQ(map.peak_bytes, 2560U);
  EXPECT_EQ(decode.live_peak_bytes, 2560U);
  EXPECT_EQ(map.storages.size(), 79U);  // of 100 tensors, 21 of them views
  EXPECT_EQ(map.left_out, 0U);
}

TEST(MemoryMap, ANodeHasThePlacesOfItsTensors) {
  Capture capture = planned(4, 1024);
  const std::uint32_t a = add(capture, 0, 256, 0, 1);
  const std::uint32_t view = add(capture, 0, 256, 0, 1, a);
  const std::uint32_t b = add(capture, 256, 256, 1, 2);
  add(capture, 512, 256, 1, 2);
  capture.tensors.emplace_back();
  capture.operands = {{"w", 4, true, false},
                      {"y", b, false, true},
                      {"x", view, true, false},
                      {"x", a, true, false}};
  capture.nodes.resize(1);
  capture.nodes[0].operands = {0, 4};
  const MemoryMap map = make_memory_map(capture);
  EXPECT_THAT(storages_of_node(capture, map, 0), ElementsAre(0, 1));
}

TEST(MemoryMap, APlaceHasTheRoleThatSaysMost) {
  Capture capture = planned(4, 1024);
  const std::uint32_t a = add(capture, 0, 256, 0, 1);
  add(capture, 0, 256, 0, 1, a);
  EXPECT_EQ(role_of(capture, make_memory_map(capture).storages[0]), "activation");
  capture.tensors[1].role = "output";
  EXPECT_EQ(role_of(capture, make_memory_map(capture).storages[0]), "output");
}

TEST(MemoryBoxes, AreInPixelsFromTheUpperLeftAndCutAtTheEdges) {
  Capture capture = planned(10, 1000);
  add(capture, 0, 200, 0, 1);    // storage 0
  add(capture, 800, 200, 2, 3);  // 1
  add(capture, 200, 500, 5, 9);  // 2
  const MemoryMap map = make_memory_map(capture);
  const MemoryView all{.steps_per_pixel = 0.1, .bytes_per_pixel = 10, .width = 100, .height = 100};
  EXPECT_THAT(memory_boxes(map, all),
              ElementsAre(MemoryBox{0, 80, 20, 100, 0}, MemoryBox{20, 0, 40, 20, 1},
                          MemoryBox{50, 30, 100, 80, 2}));
  const MemoryView part{.first_step = 6,
                        .steps_per_pixel = 0.1,
                        .first_byte = 500,
                        .bytes_per_pixel = 10,
                        .width = 20,
                        .height = 50};
  EXPECT_THAT(memory_boxes(map, part), ElementsAre(MemoryBox{0, 30, 20, 50, 2}));
}

TEST(MemoryBoxes, AreOneWhereTheyAreThinnerThanAPixel) {
  Capture capture = planned(1000, 1000);
  for (std::uint32_t step = 0; step < 1000; ++step) {
    add(capture, 0, step % 100 == 7 ? 400 : 396, step, step);
  }
  const MemoryMap map = make_memory_map(capture);
  const MemoryView view{.steps_per_pixel = 100, .bytes_per_pixel = 100, .width = 10, .height = 10};
  const std::vector<MemoryBox> boxes = memory_boxes(map, view);
  std::uint32_t all = 0;
  for (const MemoryBox& box : boxes) {
    all += box.count;
    EXPECT_EQ(box.top, 6);
    EXPECT_EQ(box.right, box.left + 1);
    EXPECT_EQ(map.storages[box.storage].bytes, 400U) << box.left;
  }
  EXPECT_EQ(boxes.size(), 11U - 1U);
  EXPECT_EQ(all, 950U);  // the last half of a pixel lies behind the view
}

TEST(MemoryBoxes, AreNeverMoreThanTheirPixelsAllow) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  Capture capture = planned(20'000, 1'000'000);
  for (int i = 0; i < 20'000; ++i) {
    const auto first = static_cast<std::uint32_t>(random() % 19'000);
    add(capture, random() % 900'000, 1 + random() % 1000, first,
        first + static_cast<std::uint32_t>(random() % 5));
  }
  const MemoryMap map = make_memory_map(capture);
  const MemoryView view{
      .steps_per_pixel = 1000, .bytes_per_pixel = 50'000, .width = 20, .height = 20};
  const std::vector<MemoryBox> boxes = memory_boxes(map, view);
  EXPECT_GE(boxes.size(), 300U);
  EXPECT_LE(boxes.size(), 20U * 20U * 2U * 2U);
  for (const MemoryBox& box : boxes) {
    EXPECT_GE(box.left, 0);
    EXPECT_GE(box.top, 0);
    EXPECT_LE(box.right, 20);
    EXPECT_LE(box.bottom, 20);
    EXPECT_GT(box.right, box.left);
    EXPECT_GT(box.bottom, box.top);
  }
}

TEST(LiveColumns, HaveTheMostOfTheirSteps) {
  Capture capture = planned(6, 4096);
  add(capture, 0, 256, 0, 5);
  add(capture, 256, 512, 1, 1);
  add(capture, 256, 1024, 4, 4);
  const MemoryMap map = make_memory_map(capture);
  EXPECT_THAT(live_columns(map, 0, 2, 4), ElementsAre(768, 256, 1280, 0));
  EXPECT_THAT(live_columns(map, 1, 0.5, 4), ElementsAre(768, 768, 256, 256));
}

}  // namespace
}  // namespace reprise::debugger
