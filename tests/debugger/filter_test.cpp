#include "debugger/model/filter.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "debugger/model/glob.h"
#include "tests/seed.h"

namespace reprise::debugger {
namespace {

/// Nodes 0..n-1 of a capture where each was timed once.
struct Nodes {
  Capture capture;
  CaptureStatistics statistics;

  Capture::Node& add(const std::string& op, const std::string& scope = {}) {
    Capture::Node node;
    node.op = op;
    node.scope = scope;
    capture.nodes.push_back(node);
    statistics.nodes.emplace_back();
    return capture.nodes.back();
  }
  void time(std::size_t node, std::uint64_t ns) {
    statistics.nodes[node] = NodeTiming{.count = 1,
                                        .total_ns = ns,
                                        .min_ns = ns,
                                        .max_ns = ns,
                                        .p50_ns = ns,
                                        .p95_ns = 2 * ns,
                                        .mean_ns = static_cast<double>(ns)};
    statistics.p50_sum_ns += ns;
  }
  std::vector<std::uint32_t> passing(std::string_view text) const {
    const NodeFilter filter(text);
    EXPECT_FALSE(filter.problem()) << text << ": " << filter.problem()->message;
    return filter.nodes(capture, statistics);
  }
};
using Passing = std::vector<std::uint32_t>;

Nodes small_decoder() {
  Nodes nodes;
  nodes.add("get_rows");
  nodes.add("rms_norm", "layer.0/attn").source_file = "../../samples/llama/forward.cpp";
  nodes.add("matmul", "layer.0/attn").label = "Two Words";
  nodes.add("silu_mul", "layer.10/ffn").flops = 2'000'000;
  nodes.add("matmul", "layer.1/ffn").read_bytes = 1025;
  nodes.capture.nodes[1].source_line = 31;
  for (std::size_t n = 0; n < 4; ++n) {
    nodes.time(n, 1000 * (n + 1));
  }
  return nodes;
}

TEST(NodeFilter, LetsEveryNodeThroughWithoutWords) {
  EXPECT_EQ(small_decoder().passing(""), (Passing{0, 1, 2, 3, 4}));
  EXPECT_EQ(small_decoder().passing("   "), (Passing{0, 1, 2, 3, 4}));
  EXPECT_EQ(NodeFilter("  ").where(), "1");
}

TEST(NodeFilter, ComparesAWholeOpUnlessItHasAStar) {
  EXPECT_EQ(small_decoder().passing("op:matmul"), (Passing{2, 4}));
  EXPECT_EQ(small_decoder().passing("op:mul"), Passing{});
  EXPECT_EQ(small_decoder().passing("op:*mul"), (Passing{2, 3, 4}));
}

TEST(NodeFilter, FindsNodesByEveryScopeAroundThem) {
  EXPECT_EQ(small_decoder().passing("scope:layer.1"), Passing{4});
  EXPECT_EQ(small_decoder().passing("scope:layer.1*"), (Passing{3, 4}));
  EXPECT_EQ(small_decoder().passing("scope:*/attn"), (Passing{1, 2}));
}

TEST(NodeFilter, FindsSourcesByTheEndOfTheirPath) {
  EXPECT_EQ(small_decoder().passing("source:forward.cpp"), Passing{1});
  EXPECT_EQ(small_decoder().passing("source:llama/forward.cpp:31"), Passing{1});
  EXPECT_EQ(small_decoder().passing("source:forward.cpp:3"), Passing{});
  EXPECT_EQ(small_decoder().passing("source:ward.cpp"), Passing{});
}

TEST(NodeFilter, ComparesNumbersWithUnits) {
  EXPECT_EQ(small_decoder().passing("p50>1us p50<=3us"), (Passing{1, 2}));
  EXPECT_EQ(small_decoder().passing("p95>=0.008ms"), Passing{3});
  EXPECT_EQ(small_decoder().passing("share>25%"), (Passing{2, 3}));
  EXPECT_EQ(small_decoder().passing("bytes>1KiB"), Passing{4});
  EXPECT_EQ(small_decoder().passing("flops=2M"), Passing{3});
  EXPECT_EQ(small_decoder().passing("idx=4"), Passing{4});
}

TEST(NodeFilter, ANodeWithoutANumberFailsItsComparisonAndPassesTheNegation) {
  EXPECT_EQ(small_decoder().passing("p50>0ns"), (Passing{0, 1, 2, 3}));
  EXPECT_EQ(small_decoder().passing("-p50>0ns"), Passing{4});
}

TEST(NodeFilter, OtherWordsArePartsOfAnyTextInAnyCase) {
  EXPECT_EQ(small_decoder().passing("LAYER.0"), (Passing{1, 2}));
  EXPECT_EQ(small_decoder().passing("\"two words\""), Passing{2});
  EXPECT_EQ(small_decoder().passing("-mul -norm"), Passing{0});
}

TEST(NodeFilter, ABarrierIsOneThatIsEmittedBeforeAnyStepOfTheNode) {
  Nodes nodes = small_decoder();
  nodes.capture.steps.resize(4);
  for (std::uint32_t step = 0; step < 4; ++step) {
    nodes.capture.steps[step].node = step / 2;
  }
  nodes.capture.barriers.resize(2);
  nodes.capture.barriers[0].before_step = 3;
  nodes.capture.barriers[0].emitted = true;
  nodes.capture.barriers[1].before_step = 0;
  EXPECT_EQ(nodes.passing("barrier"), Passing{1});
  EXPECT_EQ(nodes.passing("\"barrier\""), Passing{});
}

struct Mistake {
  std::string text;
  std::size_t position;
  std::vector<std::string> parts;
};

TEST(NodeFilter, SaysWhereItDoesNotUnderstandAndWhatIsAllowed) {
  const std::string long_text(NodeFilter::kMaxBytes + 1, 'x');
  const std::vector<Mistake> mistakes = {
      {"op:add kernl:x", 7, {"(kernl)", "op:", "kernel:", "p95>"}},
      {"time>3us", 0, {"(time)", "op:", "p50>", "share>"}},
      {"op:add p95>100", 14, {"p95 needs a unit", "ns, us, µs, ms, s"}},
      {"p95>100qs", 7, {"(qs)", "ns, us, µs, ms, s"}},
      {"share>5", 7, {"share needs a unit: %"}},
      {"bytes>5us", 7, {"(us)", "no unit, B, KiB, MiB, GiB"}},
      {"p50>fast", 4, {"(fast)", "not a number"}},
      {"p50>1e999us", 4, {"(1e999us)", "not a number"}},
      {"p50>infs", 4, {"(infs)", "not a number"}},
      {"p50>", 4, {"()", "not a number"}},
      {"op:", 3, {"Nothing follows op:"}},
      {"add -", 5, {"Nothing follows the -"}},
      {"add \"open", 4, {"quote"}},
      {std::string("a\0b", 3), 1, {"cannot be shown"}},
      {"ab\xFFz", 2, {"cannot be shown"}},
      {long_text, NodeFilter::kMaxBytes, {"1025", "1024"}},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.text);
    const NodeFilter filter(mistake.text);
    ASSERT_TRUE(filter.problem());
    EXPECT_EQ(filter.problem()->position, mistake.position);
    for (const std::string& part : mistake.parts) {
      EXPECT_NE(filter.problem()->message.find(part), std::string::npos)
          << filter.problem()->message;
    }
    EXPECT_EQ(filter.nodes(small_decoder().capture, {}).size(), 5U);
    EXPECT_EQ(filter.where(), "1");
  }
}

/// The textbook definition.
bool naive_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern.front() == '*') {
    return naive_glob(pattern.substr(1), text) ||
           (!text.empty() && naive_glob(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         naive_glob(pattern.substr(1), text.substr(1));
}

TEST(Glob, MatchesAsDefined) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  const auto draw = [&](std::string_view letters, std::size_t max) {
    std::string text(random() % (max + 1), ' ');
    std::generate(text.begin(), text.end(), [&] { return letters[random() % letters.size()]; });
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::string pattern = draw("ab*?[", 6), text = draw("ab[", 8);
    ASSERT_EQ(glob_matches(pattern, text), naive_glob(pattern, text)) << pattern << " " << text;
  }
}

TEST(Glob, OfManyStarsOverALongTextIsQuick) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(100'000, 'a')));
}

}  // namespace
}  // namespace reprise::debugger
