#include "debugger/model/barrier_list.h"

#include "tests/debugger/panel_window.h"

namespace reprise::debugger {
namespace {

using ::testing::ElementsAre;

Capture::Barrier barrier(const char* kind, bool required, bool emitted, std::uint32_t before = 0,
                         std::uint64_t bytes = 0) {
  Capture::Barrier made;
  made.kind = kind;
  made.required = required;
  made.emitted = emitted;
  made.before_step = before;
  made.size_bytes = bytes;
  return made;
}

TEST(BarrierList, SaysWhichAreMissingAndWhichAreRedundant) {
  EXPECT_STREQ(name_of(verdict_of(barrier("RAW", true, true))), "emitted");
  EXPECT_STREQ(name_of(verdict_of(barrier("RAW", true, false))), "missing");
  EXPECT_STREQ(name_of(verdict_of(barrier("RAW", false, true))), "redundant");
  EXPECT_STREQ(name_of(verdict_of(barrier("RAW", false, false))), "not needed");
}

TEST(BarrierList, CountsWhatEachFilterShows) {
  const std::vector<Capture::Barrier> barriers{
      barrier("RAW", true, true), barrier("RAW", true, false), barrier("WAR", false, true),
      barrier("WAW", false, false), barrier("war", true, true)};  // a kind that nobody writes
  const BarrierCounts counts = counts_of(barriers);
  EXPECT_THAT(counts.shown, ElementsAre(5, 2, 1, 1, 1, 1));
  EXPECT_EQ(counts.required, 3U);
  EXPECT_EQ(counts.emitted, 3U);
}

TEST(BarrierList, IsFilteredAndSorted) {
  Capture capture;
  capture.barriers = {barrier("WAR", true, true, 2, 64), barrier("RAW", true, true, 5, 16),
                      barrier("RAW", true, false, 3, 256), barrier("RAW", false, true, 7, 16)};
  const auto rows = [&](BarrierFilter filter, BarrierOrder order, bool descending) {
    return barrier_rows(capture, filter, order, descending);
  };
  EXPECT_THAT(rows(BarrierFilter::all, BarrierOrder::step, false), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(rows(BarrierFilter::raw, BarrierOrder::step, true), ElementsAre(3, 1, 2));
  EXPECT_THAT(rows(BarrierFilter::all, BarrierOrder::kind, false), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(rows(BarrierFilter::all, BarrierOrder::size, true), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(rows(BarrierFilter::all, BarrierOrder::verdict, false), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(rows(BarrierFilter::missing, BarrierOrder::step, false), ElementsAre(2));
  EXPECT_THAT(rows(BarrierFilter::redundant, BarrierOrder::step, false), ElementsAre(3));
  EXPECT_THAT(rows(BarrierFilter::waw, BarrierOrder::step, false), ElementsAre());
}

/// Steps 0 | 1 2 | 3: two barriers, of 10, 20 + 30 and 5 ns.
TEST(BarrierList, ABarrierCostsAtMostTheShorterOfWhatItKeepsApart) {
  Capture capture;
  capture.nodes.resize(4);
  capture.steps.resize(4);
  capture.edges = {{.src = 0, .dst = 1, .kind = "RAW"}};
  CaptureStatistics statistics;
  for (std::uint32_t n = 0; n < 4; ++n) {
    capture.nodes[n].steps = {n, 1};
    capture.steps[n].node = n;
    NodeTiming timing;
    timing.p50_ns = std::array{10U, 20U, 30U, 5U}[n];
    statistics.nodes.emplace_back(timing);
  }
  capture.barriers = {barrier("RAW", true, true, 1, 1), barrier("RAW", true, true, 3, 1),
                      barrier("RAW", true, false, 2, 1)};
  capture.barriers[0].cause_src = 0;
  capture.barriers[1].cause_src = 2;
  const auto times = barrier_times(capture, statistics);
  EXPECT_EQ(times[0]->before_ns, 10U);
  EXPECT_EQ(times[0]->after_ns, 50U);
  EXPECT_EQ(times[0]->cost_ns(), 10U);
  EXPECT_EQ(times[1]->cost_ns(), 5U);
  EXPECT_FALSE(times[2]);  // was not emitted
  EXPECT_EQ(barrier_times(capture, {})[0], std::nullopt);
  EXPECT_THAT(barrier_rows(capture, BarrierFilter::all, BarrierOrder::cost, true, times),
              ElementsAre(0, 1, 2));
}

/// Node 0 reads a and writes x; node 1 reads a view of x and writes y over a.
Capture two_nodes() {
  Capture capture;
  capture.pools = {{"arena", 1024}, {"buffer", 1024}};
  const auto tensor = [&](const char* name, std::uint32_t pool, std::uint64_t offset) {
    Capture::Tensor made;
    made.name = name;
    made.pool = pool;
    made.offset_bytes = offset;
    made.bytes = 256;
    capture.tensors.push_back(std::move(made));
  };
  tensor("a", 0, 0);
  tensor("x", 0, 256);
  tensor("x.view", 0, 256);
  capture.tensors[2].alias_of = 1;
  tensor("y", 0, 0);
  tensor("weight", 1, 256);  // the same offset elsewhere
  capture.operands = {{"in", 0, true, false},
                      {"w", 4, true, false},
                      {"out", 1, false, true},
                      {"in", 2, true, false},
                      {"out", 3, false, true}};
  capture.nodes.resize(2);
  capture.nodes[0].operands = {0, 3};
  capture.nodes[1].operands = {3, 2};
  capture.steps.resize(3);
  capture.steps[0].node = 0;
  capture.steps[1].node = 1;  // step 2 belongs to no node
  return capture;
}

TEST(BarrierList, NamesTheTensorsOfTheByteRangeOnce) {
  const Capture capture = two_nodes();
  Capture::Barrier read = barrier("RAW", true, true, 1, 256);
  read.cause_src = 0;
  read.pool = 0;
  read.offset_bytes = 256;
  EXPECT_EQ(tensors_text(capture, read), "x");
  Capture::Barrier reuse = read;
  reuse.kind = "WAR";
  reuse.offset_bytes = 0;
  EXPECT_EQ(tensors_text(capture, reuse), "a, y");
  reuse.size_bytes = 257;
  EXPECT_EQ(tensors_text(capture, reuse), "a, x, y");
  reuse.pool = 1;
  EXPECT_EQ(tensors_text(capture, reuse), "weight");
  reuse.pool.reset();
  EXPECT_EQ(tensors_text(capture, reuse), "");
}

TEST(BarrierList, NodesAreThoseOfTheSteps) {
  const Capture capture = two_nodes();
  Capture::Barrier of = barrier("RAW", true, true, 2, 256);
  EXPECT_EQ(waiting_node(capture, of), std::nullopt);
  EXPECT_EQ(cause_node(capture, of), std::nullopt);
  of.before_step = 1;
  of.cause_src = 0;
  EXPECT_EQ(waiting_node(capture, of), 1U);
  EXPECT_EQ(cause_node(capture, of), 0U);
}

TEST(BarrierList, EveryBarrierOfARealPlanHasATensor) {
  const SampleDatabase sample;
  const Capture capture = read_capture(sample.path(), {.run = 2, .graph = 2});
  ASSERT_EQ(capture.barriers.size(), 65U);
  EXPECT_EQ(tensors_text(capture, capture.barriers[1]), "get_rows");
  EXPECT_EQ(tensors_text(capture, capture.barriers[3]), "layer.0/attn/matmul");
  for (const Capture::Barrier& barrier : capture.barriers) {
    EXPECT_NE(tensors_text(capture, barrier), "") << barrier.before_step;
  }
}

}  // namespace
}  // namespace reprise::debugger
