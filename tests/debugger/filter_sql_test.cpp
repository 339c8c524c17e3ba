// Filters evaluated over a capture find the nodes that their SQL finds in the database.
#include <random>

#include <gtest/gtest.h>

#include "debugger/model/filter.h"
#include "debugger/model/sql_text.h"
#include "tests/debugger/recorded_database.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

/// A random filter of words that say something about the recorded graph.
std::string random_filter(std::mt19937_64& random) {
  static const std::vector<std::string> kWords = {"op:norm",
                                                  "op:add",
                                                  "op:*a*",
                                                  "op:?orm",
                                                  "op:[n]orm",
                                                  "scope:layer.3",
                                                  "scope:*",
                                                  "scope:l?yer*",
                                                  "scope:layer.3/attn",
                                                  "kernel:norm",
                                                  "kernel:n*",
                                                  "kernel:x",
                                                  "source:model.cpp",
                                                  "source:model.cpp:1?",
                                                  "source:*.cpp",
                                                  "label:*",
                                                  "label:attn",
                                                  "barrier",
                                                  "norm",
                                                  "AT",
                                                  "\"odel.cpp:1\"",
                                                  "p50>1us",
                                                  "p50<=900ns",
                                                  "p95>=0.002ms",
                                                  "total>0s",
                                                  "share>10%",
                                                  "share<33.5%",
                                                  "bytes>1KiB",
                                                  "bytes<=1536",
                                                  "flops>0.2k",
                                                  "flops=0",
                                                  "idx>=2",
                                                  "idx<1e9",
                                                  "level=1",
                                                  "level>0",
                                                  "'",
                                                  "\"it's\"",
                                                  "\"%s\"",
                                                  "op:*'*"};
  std::string text;
  const std::size_t words = random() % 4;
  for (std::size_t w = 0; w < words; ++w) {
    text += (random() % 3 == 0 ? "-" : "") + kWords[random() % kWords.size()] + " ";
  }
  return text;
}

TEST(NodeFilter, TheDatabaseAgrees) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  const RecordedDatabase database({.scales = 3, .replays = 5}, random);
  test::sql(database.path(),
            "DELETE FROM node_stats WHERE idx = 1; UPDATE nodes SET flops = NULL, "
            "read_bytes = NULL, write_bytes = NULL WHERE idx = 0");
  const Capture capture = read_capture(database.path(), database.id());
  CaptureStatistics statistics;
  const NodeTimingTable table = read_node_timings(database.path(), database.id()).front();
  statistics.nodes = table.nodes;
  add_up(statistics);
  const std::string rows =
      node_rows_sql(database.id(), {.source = {table.phase, table.timing_mode}, .replays = {}});
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_filter(random);
    SCOPED_TRACE(text);
    const NodeFilter filter(text);
    ASSERT_FALSE(filter.problem());
    std::string expected;
    for (const std::uint32_t node : filter.nodes(capture, statistics)) {
      expected += (expected.empty() ? "" : "\n") + std::to_string(node);
    }
    ASSERT_EQ(test::sql(database.path(),
                        "SELECT idx FROM " + rows + " WHERE " + filter.where() + " ORDER BY idx"),
              expected)
        << filter.where();
  }
}

}  // namespace
}  // namespace reprise::debugger
