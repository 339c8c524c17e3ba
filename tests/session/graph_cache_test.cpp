// A pass written once, and when a cache records it, replays it, or runs it directly.
#include <thread>

#include "reprise/backend/backend.h"
#include "tests/session/gate_op.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class GraphCaches : public ::testing::TestWithParam<std::string> {
 protected:
  GraphKey key(std::int64_t rows, std::string tag = "double") const {
    return {.owner = owner_, .tag = std::move(tag), .bucket = {rows}};
  }
  static std::vector<float> values(std::int64_t rows, float first) {
    std::vector<float> x(static_cast<std::size_t>(rows));
    for (float& value : x) {
      value = first++;
    }
    return x;
  }
  static std::vector<float> doubled(std::vector<float> x) {
    for (float& value : x) {
      value += value;
    }
    return x;
  }
  /// y = x + x over so many elements.
  static RecordFunction pass(std::int64_t rows) {
    return [rows](GraphSession& s) {
      const Tensor x = s.input("x", {rows});
      s.output("y", add(s, x, x));
    };
  }
  KeyedRun run(GraphCache& cache, std::int64_t rows, float first = 1) const {
    const std::vector<float> x = values(rows, first);
    KeyedRun run = cache.run(key(rows), pass(rows), {.inputs = {{"x", x}}});
    EXPECT_EQ(run.read("y"), doubled(x));
    return run;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  std::vector<std::string> log_;
  GraphExecutor executor_{device_, {.log = [this](LogLevel level, std::string_view text) {
                            if (level == LogLevel::warning) {
                              log_.emplace_back(text);
                            }
                          }}};
  const GraphOwner owner_{"model"};
};
INSTANTIATE_TEST_SUITE_P(On, GraphCaches, ::testing::Values("cpu", "vulkan"), device_param_name);

/// Asks a cache for a key as it ends.
struct AsksAtItsEnd {
  AsksAtItsEnd(const GraphCache& cache, const GraphKey& key, std::vector<MissReason>& found)
      : cache_(cache), key_(key), found_(found) {}
  AsksAtItsEnd(const AsksAtItsEnd&) = delete;
  AsksAtItsEnd& operator=(const AsksAtItsEnd&) = delete;
  ~AsksAtItsEnd() { found_.push_back(cache_.find(key_).miss); }

 private:
  const GraphCache& cache_;
  GraphKey key_;
  std::vector<MissReason>& found_;
};

/// Copies x on the host, with a function that asks for a key as it ends.
RecordFunction asking_pass(const GraphCache& cache, const GraphKey& key,
                           std::vector<MissReason>& found) {
  return [&cache, key, &found](GraphSession& s) {
    const auto asks = std::make_shared<AsksAtItsEnd>(cache, key, found);
    const Tensor x = s.input("x", {2});
    s.output("y", host_step(s, "copy", {x}, {x.spec()}, [asks](HostStepCall& call) {
               std::ranges::copy(call.input(0), call.output(0).begin());
             })[0]);
  };
}

TEST_P(GraphCaches, LetFunctionsOfTheirGraphsUseTheKeyAsTheyEnd) {
  GraphCache cache(executor_);
  std::vector<MissReason> found;
  const std::vector<float> x = values(2, 1);
  const auto pass = asking_pass(cache, key(2), found);
  EXPECT_EQ(cache.run(key(2), pass, {.inputs = {{"x", x}}}).read("y"), x);
  EXPECT_EQ(cache.reset(key(2)), 1U);
  EXPECT_EQ(found, std::vector{MissReason::reset});
}

TEST_P(GraphCaches, LetFunctionsOfEvictedGraphsUseTheKeyThatTookTheirRoom) {
  GraphCache cache(executor_, {.max_graphs = 1});
  std::vector<MissReason> found;
  const std::vector<float> x = values(2, 1);
  const auto pass = asking_pass(cache, key(4), found);
  EXPECT_EQ(cache.run(key(2), pass, {.inputs = {{"x", x}}}).read("y"), x);
  run(cache, 4);
  EXPECT_EQ(found, std::vector{MissReason::none});
}

TEST_P(GraphCaches, RecordTheFirstRunOfAKeyAndReplayTheOthers) {
  GraphCache cache(executor_);
  const KeyedRun first = run(cache, 4);
  EXPECT_EQ(first.how, RunOutcome::recorded);
  EXPECT_EQ(first.miss, MissReason::absent);
  EXPECT_NE(first.text.find("double [4] of 'model'"), std::string::npos) << first.text;
  EXPECT_EQ(first.report.ops, 1U);
  for (float i = 2; i < 6; ++i) {
    const KeyedRun later = run(cache, 4, i);
    EXPECT_EQ(later.how, RunOutcome::replayed);
    EXPECT_EQ(later.miss, MissReason::none);
    EXPECT_EQ(later.text, "");
  }
  EXPECT_EQ(cache.counters().hits, 4U);
  EXPECT_EQ(cache.counters().missed(), 1U);
  EXPECT_EQ(cache.counters().recorded, 1U);
  EXPECT_EQ(cache.find(key(4)).replays, 5U) << "the first run is one";
}

TEST_P(GraphCaches, FindSaysWhyAKeyWouldMiss) {
  GraphCache cache(executor_);
  EXPECT_EQ(cache.find(key(4)).miss, MissReason::absent);
  EXPECT_FALSE(cache.find(key(4)));
  (void)run(cache, 4);
  const GraphLookup found = cache.find(key(4));
  EXPECT_TRUE(found);
  EXPECT_GT(found.bytes, 0U);
  EXPECT_EQ(cache.counters().hits + cache.counters().missed(), 1U) << "finding counts nothing";
}

TEST_P(GraphCaches, LetGoOfTheGraphThatWasUsedLongestAgo) {
  GraphCache cache(executor_, {.max_graphs = 2});
  (void)run(cache, 1);
  (void)run(cache, 2);
  (void)run(cache, 1);
  (void)run(cache, 3);
  EXPECT_TRUE(cache.find(key(1)));
  EXPECT_TRUE(cache.find(key(3)));
  EXPECT_EQ(cache.find(key(2)).miss, MissReason::evicted);
  EXPECT_EQ(cache.counters().evicted, 1U);
  EXPECT_EQ(run(cache, 2).miss, MissReason::evicted);
  EXPECT_EQ(cache.counters().graphs, 2U);
}

TEST_P(GraphCaches, StayWithinTheirBytes) {
  GraphCache measure(executor_);
  (void)run(measure, 64);
  const std::uint64_t bytes = measure.counters().bytes;
  EXPECT_EQ(bytes, measure.find(key(64)).bytes);
  GraphCache cache(executor_, {.max_bytes = 2 * bytes});
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> x = values(64, 1);
    const KeyedRun one =
        cache.run(key(64, "pass " + std::to_string(i)), pass(64), {.inputs = {{"x", x}}});
    EXPECT_EQ(one.read("y"), doubled(x));
    EXPECT_LE(cache.counters().bytes, 2 * bytes);
  }
  EXPECT_EQ(cache.counters().graphs, 2U);
  EXPECT_EQ(cache.counters().evicted, 1U);
  GraphCache small(executor_, {.max_bytes = bytes - 1});
  EXPECT_EQ(run(small, 64).how, RunOutcome::recorded);
  EXPECT_EQ(small.find(key(64)).miss, MissReason::rejected);
  EXPECT_EQ(small.counters().rejected, 1U);
  EXPECT_EQ(small.counters().bytes, 0U);
}

TEST_P(GraphCaches, KeepGraphsThatTicketsHold) {
  GraphCache cache(executor_, {.max_graphs = 1});
  const KeyedRun held = run(cache, 1);
  const KeyedRun other = run(cache, 2);
  EXPECT_EQ(other.how, RunOutcome::recorded);
  EXPECT_EQ(cache.find(key(2)).miss, MissReason::rejected);
  EXPECT_TRUE(cache.find(key(1)));
  EXPECT_EQ(cache.counters().rejected, 1U);
  EXPECT_EQ(cache.counters().evicted, 0U);
  EXPECT_EQ(held.read("y"), doubled(values(1, 1)));
}

TEST_P(GraphCaches, RunDirectlyWhenTicketsHoldAllSlots) {
  GraphCache cache(executor_, {.finish = {.slots = 2}});
  const KeyedRun first = run(cache, 4, 1), second = run(cache, 4, 10), third = run(cache, 4, 20);
  EXPECT_EQ(second.how, RunOutcome::replayed);
  EXPECT_EQ(third.how, RunOutcome::direct);
  EXPECT_EQ(third.miss, MissReason::busy);
  EXPECT_EQ(first.read("y"), doubled(values(4, 1)));
  EXPECT_EQ(second.read("y"), doubled(values(4, 10)));
}

TEST_P(GraphCaches, ResetWithTicketsHeldAndSayHowMany) {
  GraphCache cache(executor_);
  const GraphOwner other("other");
  const std::vector<float> x = values(4, 1);
  const KeyedRun held = run(cache, 4);
  (void)run(cache, 5);
  (void)cache.run({.owner = other, .tag = "double"}, pass(4), {.inputs = {{"x", x}}});
  EXPECT_EQ(cache.reset(key(4)), 1U);
  EXPECT_EQ(cache.reset(key(4)), 0U);
  EXPECT_EQ(cache.reset(key(77)), 0U);
  EXPECT_EQ(cache.find(key(4)).miss, MissReason::reset);
  EXPECT_EQ(held.read("y"), doubled(x));
  EXPECT_EQ(cache.reset_all(owner_), 1U) << "the other owner keeps its graph";
  EXPECT_TRUE(cache.find({.owner = other, .tag = "double"}));
  EXPECT_EQ(run(cache, 4).miss, MissReason::reset);
  EXPECT_EQ(cache.reset_all(), 2U);
  EXPECT_EQ(cache.counters().reset, 4U);
  EXPECT_EQ(cache.counters().graphs, 0U);
  EXPECT_EQ(cache.counters().bytes, 0U);
}

TEST_P(GraphCaches, RememberAPassThatCannotBeRecordedAndRunItDirectly) {
  GraphCache cache(executor_);
  int calls = 0;
  const std::vector<float> x = values(4, 1);
  const auto direct_only = [&](GraphSession& s) {
    ++calls;
    const Tensor in = s.input("x", {4});
    s.output("y", add(s, in, in));
    if (s.status().op_index == 1 && calls == 1) {
      throw Error(ErrorCode::unsupported, "This pass cannot be recorded.");
    }
  };
  const KeyedRun first = cache.run(key(4), direct_only, {.inputs = {{"x", x}}});
  EXPECT_EQ(first.how, RunOutcome::direct);
  EXPECT_EQ(first.miss, MissReason::failed);
  EXPECT_NE(first.text.find("This pass cannot be recorded."), std::string::npos);
  EXPECT_EQ(first.read("y"), doubled(x));
  EXPECT_EQ(calls, 2) << "recorded in vain, then run";
  const KeyedRun second = cache.run(key(4), direct_only, {.inputs = {{"x", x}}});
  EXPECT_EQ(second.miss, MissReason::failed);
  EXPECT_EQ(calls, 3) << "not tried again";
  EXPECT_EQ(cache.counters().failed, 1U);
  EXPECT_EQ(cache.find(key(4)).miss, MissReason::failed);
  EXPECT_EQ(cache.reset(key(4)), 0U);
  EXPECT_EQ(cache.run(key(4), direct_only, {.inputs = {{"x", x}}}).how, RunOutcome::recorded);
}

TEST_P(GraphCaches, AnErrorThatDirectSessionsShareReachesTheCallerAndIsNotRemembered) {
  GraphCache cache(executor_);
  const std::vector<float> wrong = values(3, 1);
  expect_error(ErrorCode::size_mismatch, {"'x'", "(12)"}, [&] {
    (void)cache.run(key(4), pass(4), {.inputs = {{"x", wrong}}});
  });
  EXPECT_EQ(run(cache, 4).how, RunOutcome::recorded);
}

TEST_P(GraphCaches, WhatMakingTheGraphOfAPlanThrowsReachesTheCallerAndIsNotRemembered) {
  const CapturePool pool(device_);
  pool.seal();
  GraphCache cache(executor_, {.finish = {.pool = pool}});
  expect_error(ErrorCode::invalid_argument, {"sealed"}, [&] { run(cache, 4); });
  EXPECT_EQ(cache.find(key(4)).miss, MissReason::absent);
  EXPECT_EQ(cache.counters().failed, 0U);
  pool.unseal();
  EXPECT_EQ(run(cache, 4).how, RunOutcome::recorded);
}

TEST_P(GraphCaches, OtherExceptionsPassThrough) {
  GraphCache cache(executor_);
  EXPECT_THROW((void)cache.run(key(4), [](GraphSession&) { throw std::string("mine"); }),
               std::string);
  EXPECT_EQ(run(cache, 4).miss, MissReason::absent);
}

TEST_P(GraphCaches, AnotherStructureUnderOneKeyIsAnErrorThatNamesTheNode) {
  GraphCache cache(executor_, {.max_graphs = 1});
  (void)run(cache, 4);
  (void)run(cache, 5);  // evicts it
  const std::vector<float> x = values(4, 1);
  const auto other = [](GraphSession& s) {
    const Tensor in = s.input("x", {4});
    const auto scope = s.scope("mlp");
    s.output("y", mul(s, in, in));
  };
  expect_error(ErrorCode::invalid_argument,
               {"double [4] of 'model'", "op 0 mul (mlp)", "it was add", "graph_cache_test.cpp:"},
               [&] {
                 (void)cache.run(key(4), other, {.inputs = {{"x", x}}});
               });
  EXPECT_EQ(run(cache, 4).how, RunOutcome::recorded) << "what it was is still accepted";
  (void)cache.reset(key(4));
  EXPECT_EQ(cache.run(key(4), other, {.inputs = {{"x", x}}}).how, RunOutcome::recorded);
}

TEST_P(GraphCaches, APassWithoutOpsIsAStructureToo) {
  GraphCache cache(executor_, {.max_graphs = 1});
  const std::vector<float> x = values(4, 1);
  const auto no_op = [](GraphSession& s) { s.output("y", s.input("x", {4})); };
  EXPECT_EQ(cache.run(key(4), no_op, {.inputs = {{"x", x}}}).read("y"), x);
  (void)run(cache, 5);  // evicts it
  expect_error(ErrorCode::invalid_argument, {"op 0 add", "it was no op 0"}, [&] {
    (void)cache.run(key(4), pass(4), {.inputs = {{"x", x}}});
  });
}

TEST_P(GraphCaches, RecordAgainWhenABufferWasFreed) {
  GraphCache cache(executor_);
  Tensor weight = device_.from_host({4}, values(4, 1), "old weight");
  const std::vector<float> x = values(4, 1);
  const auto pass = [&](GraphSession& s) { s.output("y", mul(s, s.input("x", {4}), weight)); };
  const auto run = [&] { return cache.run(key(4), pass, {.inputs = {{"x", x}}}); };
  EXPECT_EQ(run().read("y"), (std::vector<float>{1, 4, 9, 16}));
  const Tensor old = weight;
  weight = device_.from_host({4}, values(4, 2), "new weight");
  EXPECT_EQ(run().read("y"), (std::vector<float>{1, 4, 9, 16})) << "the old one is still there";
  device_.backend().free(TensorRef(old)->buffer);
  EXPECT_EQ(cache.find(key(4)).miss, MissReason::stale);
  const KeyedRun again = run();
  EXPECT_EQ(again.how, RunOutcome::recorded);
  EXPECT_EQ(again.miss, MissReason::stale);
  EXPECT_NE(again.text.find("old weight"), std::string::npos) << again.text;
  EXPECT_EQ(again.read("y"), (std::vector<float>{2, 6, 12, 20}));
  EXPECT_EQ(cache.counters().stale, 1U);
}

TEST_P(GraphCaches, EveryRunGivesAllInputs) {
  GraphCache cache(executor_);
  const std::vector<float> x = values(4, 1), z = values(4, 5);
  const auto two = [](GraphSession& s) {
    const Tensor in = s.input("x", {4});
    s.output("y", add(s, in, s.input("z", {4})));
  };
  (void)cache.run(key(4), two, {.inputs = {{"x", x}, {"z", z}}});
  expect_error(ErrorCode::missing_input, {"'z'", "one value"}, [&] {
    (void)cache.run(key(4), two, {.inputs = {{"x", x}}});
  });
  expect_error(ErrorCode::invalid_argument, {"'x'", "one value"}, [&] {
    (void)cache.run(key(4), two, {.inputs = {{"x", x}, {"x", z}}});
  });
  expect_error(ErrorCode::unknown_name, {"(w)", "x, z"}, [&] {
    (void)cache.run(key(4), two, {.inputs = {{"x", x}, {"z", z}, {"w", z}}});
  });
  expect_error(ErrorCode::unknown_name, {"'w'", "does not declare"}, [&] {
    (void)cache.run(key(5), two, {.inputs = {{"x", x}, {"z", z}, {"w", z}}});
  });
}

TEST_P(GraphCaches, AKeyStaysWithItsStateBlock) {
  GraphCache cache(executor_);
  const StateBlock a(device_, StateLayout().host("row")), b(device_, StateLayout().host("row"));
  const Tensor table = device_.from_host({3, 1}, values(3, 0), "table");
  const auto pass = [&](GraphSession& s) { s.output("y", get_rows(s, table, s.state("row"))); };
  for (const std::int32_t row : {2, 0, 1}) {
    a.set("row", row);
    EXPECT_EQ(cache.run(key(1), pass, {.state = a}).read("y"),
              std::vector<float>{static_cast<float>(row)});
  }
  expect_error(ErrorCode::invalid_argument, {"another state block"},
               [&] { (void)cache.run(key(1), pass, {.state = b}); });
}

TEST_P(GraphCaches, ARunMayHaveSeveralIterations) {
  GraphCache cache(executor_, {.finish = {.slots = 1}});
  const StateBlock state(device_, StateLayout().carried("pos"));
  const std::vector<std::int32_t> next{7};
  const auto pass = [](GraphSession& s) {
    const Tensor in = s.input("next", {1}, DType::i32);
    advance(s, in, {.position = s.state("pos"), .rows = 1});
    s.output("next", in);
  };
  const SessionOptions session{.state = state, .max_iterations = 4, .inputs = {{"next", next}}};
  EXPECT_EQ(cache.run(key(1), pass, session, {.iterations = 3}).ticket.iterations(), 3U);
  const KeyedRun held = cache.run(key(1), pass, session, {.iterations = 4});
  EXPECT_EQ(held.how, RunOutcome::replayed);
  EXPECT_EQ(held.ticket.state("pos"), 7);
  expect_error(ErrorCode::invalid_argument, {"(2)", "only 1"},
               [&] { (void)cache.run(key(1), pass, session, {.iterations = 2}); });
  const KeyedRun direct = cache.run(key(1), pass, session);
  EXPECT_EQ(direct.miss, MissReason::busy);
  EXPECT_EQ(direct.ticket.state("pos"), 8);
}

TEST_P(GraphCaches, KeysNeedAnOwnerAndCachesRoom) {
  GraphCache cache(executor_);
  expect_error(ErrorCode::invalid_argument, {"(decode)", "owner"},
               [&] { (void)cache.run({.tag = "decode"}, pass(4)); });
  GraphOwner from("moved");
  const GraphOwner to = std::move(from);
  expect_error(ErrorCode::invalid_argument, {"owner"}, [&] {
    (void)cache.run({.owner = from, .tag = "decode"}, pass(4));  // NOLINT: what it is for
  });
  expect_error(ErrorCode::invalid_argument, {"(0)"},
               [&] { const GraphCache none(executor_, {.max_graphs = 0}); });
}

TEST_P(GraphCaches, APassThatRunsItsOwnKeyIsTold) {
  GraphCache cache(executor_);
  expect_error(ErrorCode::invalid_argument, {"its own key"},
               [&] { (void)cache.run(key(4), [&](GraphSession&) { (void)cache.find(key(4)); }); });
  EXPECT_EQ(run(cache, 4).how, RunOutcome::recorded);
}

TEST_P(GraphCaches, AHundredShapesInRoomForEightStayBoundedAndWarnOnce) {
  GraphCache cache(executor_, {.max_graphs = 8});
  std::uint64_t max = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t rows = 1; rows <= 100; ++rows) {
      (void)run(cache, rows);
      EXPECT_LE(cache.counters().graphs, 8U);
      max = std::max(max, cache.counters().bytes);
    }
  }
  const GraphCacheCounters counters = cache.counters();
  EXPECT_EQ(counters.hits, 0U);
  EXPECT_EQ(counters.missed(), 200U);
  EXPECT_EQ(counters.missed(MissReason::absent), 100U);
  EXPECT_EQ(counters.missed(MissReason::evicted), 100U);
  EXPECT_EQ(counters.recorded, 200U);
  EXPECT_EQ(counters.evicted, 192U);
  EXPECT_EQ(counters.graphs, 8U);
  EXPECT_EQ(counters.storms, 1U);
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_NE(log_[0].find("of the last 32 runs"), std::string::npos) << log_[0];
  EXPECT_NE(log_[0].find("double [25] of 'model'"), std::string::npos) << log_[0];
  const std::uint64_t largest = cache.find(key(100)).bytes;
  EXPECT_LE(max, 8 * largest);
  for (int i = 0; i < 40; ++i) {  // it passes
    (void)run(cache, 100);
  }
  for (std::int64_t rows = 1; rows <= 30; ++rows) {
    (void)run(cache, rows);
  }
  EXPECT_EQ(cache.counters().storms, 2U);
}

TEST_P(GraphCaches, ThreadsMayRunEqualAndDifferentKeys) {
  GraphCache cache(executor_, {.max_graphs = 4, .finish = {.slots = 8}});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::int64_t rows = 1 + (i * (t + 1)) % 6;
        const std::vector<float> x = values(rows, static_cast<float>(100 * t + i));
        const KeyedRun one = cache.run(key(rows), pass(rows), {.inputs = {{"x", x}}});
        wrong += one.read("y") == doubled(x) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.counters().hits + cache.counters().missed(), 80U);
  EXPECT_LE(cache.counters().graphs, 4U);
}

TEST(GatedGraphCaches, DoNotEvictWhatIsInFlight) {
  GraphExecutor executor(test_device("cpu"));
  GraphCache cache(executor, {.max_graphs = 1});
  const GraphOwner owner("model");
  const std::vector<float> x{1, 2};
  const auto pass = [](GraphSession& s) { s.output("y", pass_gate(s, s.input("x", {2}))); };
  cache.run({.owner = owner, .tag = "a"}, pass, {.inputs = {{"x", x}}}).ticket.wait();
  Gate gate;
  cache.run({.owner = owner, .tag = "a"}, pass, {.inputs = {{"x", x}}}).ticket.release();
  gate.wait_until_reached();
  KeyedRun other = cache.run({.owner = owner, .tag = "b"}, pass, {.inputs = {{"x", x}}});
  EXPECT_EQ(cache.find({.owner = owner, .tag = "b"}).miss, MissReason::rejected);
  EXPECT_TRUE(cache.find({.owner = owner, .tag = "a"}));
  EXPECT_EQ(cache.reset_all(), 1U) << "with work in flight";
  gate.open();
  EXPECT_EQ(other.read("y"), x);
}

TEST(GraphKeys, AreEqualIfAllMembersAre) {
  const GraphOwner a("model"), b("model");
  const GraphKey key{.owner = a, .tag = "decode", .bucket = {1, 64}, .parameters = 7};
  EXPECT_EQ(key, (GraphKey{.owner = a, .tag = "decode", .bucket = {1, 64}, .parameters = 7}));
  EXPECT_NE(key, (GraphKey{.owner = b, .tag = "decode", .bucket = {1, 64}, .parameters = 7}));
  EXPECT_NE(key, (GraphKey{.owner = a, .tag = "prefill", .bucket = {1, 64}, .parameters = 7}));
  EXPECT_NE(key, (GraphKey{.owner = a, .tag = "decode", .bucket = {64, 1}, .parameters = 7}));
  EXPECT_NE(key, (GraphKey{.owner = a, .tag = "decode", .bucket = {1, 64}, .parameters = 8}));
  EXPECT_NE(hash_parameters(1, 2.0F, "causal"), hash_parameters(1, 2.0F, "full"));
  EXPECT_EQ(hash_parameters(1, 2.0F, "causal"), hash_parameters(1, 2.0F, "causal"));
}

TEST(GraphKeys, ArePrintedAsTextAndJson) {
  const GraphOwner owner("a \"model\"");
  const GraphKey key{.owner = owner, .tag = "decode\n", .bucket = {1, -2}, .parameters = 171};
  const std::string number = std::to_string(owner.number());
  EXPECT_EQ(key.text(), "decode\n [1, -2] of 'a \"model\"' (owner " + number +
                            "), parameters 00000000000000ab");
  EXPECT_EQ(key.json(), "{\"owner\":\"a \\\"model\\\"\",\"owner_number\":" + number +
                            ",\"tag\":\"decode\\u000a\",\"bucket\":[1,-2],"
                            "\"parameters\":\"00000000000000ab\"}");
}

}  // namespace
}  // namespace reprise::testing
