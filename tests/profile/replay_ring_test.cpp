// The ring that hands replays to the writer thread: order, contents, what it drops, and threads.
#include "framework/profile/replay_ring.h"

#include <algorithm>
#include <deque>
#include <thread>

#include "bench/heap_calls.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using profile::ReplayRing;

/// A replay whose every part follows from two numbers.
struct Sample {
  Sample(std::uint64_t producer, std::uint64_t number)
      : state((number * 7 + producer) % 23), ticks((number * 13 + producer) % 499) {
    for (std::size_t i = 0; i < state.size(); ++i) {
      state[i] = static_cast<std::uint32_t>(number * 31 + i);
    }
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      ticks[i] = producer << 48U | (number * 101 + i);
    }
    record.recording = producer;
    record.sequence = number;
    record.device_ns = number % 3 == 0 ? std::nullopt : std::optional(number);
    record.warm_up = number % 2 == 0;
    record.state = state;
    record.step_ticks = ticks;
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  std::vector<std::uint32_t> state;
  std::vector<std::uint64_t> ticks;
  ReplayRecord record;
};

/// Equal to the sample it says it is, or to that without step times.
bool intact(const ReplayRecord& got) {
  const Sample sent(got.recording, got.sequence);
  return std::ranges::equal(got.state, sent.state) &&
         (got.step_ticks.empty() || std::ranges::equal(got.step_ticks, sent.ticks)) &&
         got.device_ns == sent.record.device_ns && got.warm_up == sent.record.warm_up;
}

TEST(ReplayRing, GivesBackWhatWasPushedInOrderOverManyTurns) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  ReplayRing ring(50'000);
  std::deque<std::uint64_t> waiting;
  std::uint64_t next = 0;
  std::uint64_t turned = 0;
  while (turned < 500 * ring.capacity()) {
    if (random() % 2 == 0 && ring.pending_bytes() < ring.capacity() / 2) {
      ring.push(Sample(3, next).record);
      waiting.push_back(next++);
    } else {
      const std::uint64_t before = ring.pending_bytes();
      const bool taken = ring.take(ring.head(), [&](const ReplayRecord& got) {
        ASSERT_FALSE(waiting.empty());
        EXPECT_EQ(got.sequence, waiting.front());
        EXPECT_TRUE(intact(got));
        EXPECT_EQ(got.step_ticks.size(), Sample(3, got.sequence).ticks.size());
      });
      ASSERT_EQ(taken, !waiting.empty());
      if (taken) {
        waiting.pop_front();
      }
      turned += before - ring.pending_bytes();
    }
    ASSERT_EQ(ring.pending_replays(), waiting.size());
  }
  EXPECT_EQ(ring.replays_dropped() + ring.timings_dropped(), 0U);
}

TEST(ReplayRing, StopsAtTheLimitEvenIfMoreWaits) {
  ReplayRing ring(100'000);
  ring.push(Sample(1, 1).record);
  const std::uint64_t limit = ring.head();
  ring.push(Sample(1, 2).record);
  const auto ignore = [](const ReplayRecord&) {};
  EXPECT_TRUE(ring.take(limit, ignore));
  EXPECT_FALSE(ring.take(limit, ignore));
  EXPECT_TRUE(ring.empty(limit));
  EXPECT_EQ(ring.pending_replays(), 1U);
  EXPECT_TRUE(ring.take(ring.head(), ignore));
}

TEST(ReplayRing, DropsStepTimesFirstThenReplaysAndCountsBoth) {
  ReplayRing ring(100'000);
  const std::vector<std::uint64_t> ticks(101, 5);
  ReplayRecord record;
  record.step_ticks = ticks;
  constexpr std::uint64_t kSent = 1000;
  for (; record.sequence < kSent; ++record.sequence) {
    ring.push(record);
  }
  std::uint64_t whole = 0;
  std::uint64_t headers = 0;
  std::uint64_t expected = 0;
  while (ring.take(ring.head(), [&](const ReplayRecord& got) {
    EXPECT_EQ(got.sequence, expected++);
    if (got.step_ticks.empty()) {
      ++headers;
    } else {
      EXPECT_EQ(headers, 0U);
      ++whole;
    }
  })) {
  }
  const std::uint64_t timed_bytes = sizeof(ReplayRecord) + 8 + ticks.size() * 8;
  EXPECT_EQ(whole, ring.capacity() / 8 * 7 / timed_bytes);
  EXPECT_GE(headers, ring.capacity() / 8 / (sizeof(ReplayRecord) + 8));
  EXPECT_EQ(ring.timings_dropped(), kSent - whole);
  EXPECT_EQ(ring.replays_dropped(), kSent - whole - headers);
  ring.push(record);  // there is room again
  EXPECT_TRUE(ring.take(ring.head(), [&](const ReplayRecord& got) {
    EXPECT_EQ(got.step_ticks.size(), ticks.size());
  }));
}

TEST(ReplayRing, DropsWhatIsLargerThanItself) {
  ReplayRing ring(0);
  const std::vector<std::uint64_t> ticks(10'000, 5);
  const std::vector<std::uint32_t> state(10'000, 5);
  ReplayRecord record;
  record.step_ticks = ticks;
  ring.push(record);
  EXPECT_TRUE(
      ring.take(ring.head(), [](const ReplayRecord& got) { EXPECT_TRUE(got.step_ticks.empty()); }));
  record.state = state;
  ring.push(record);
  EXPECT_EQ(ring.pending_bytes(), 0U);
  EXPECT_EQ(ring.timings_dropped(), 2U);
  EXPECT_EQ(ring.replays_dropped(), 1U);
}

TEST(ReplayRing, AllocatesNothingInAPush) {
  ReplayRing ring(200'000);
  const Sample sample(1, 1);
  const std::uint64_t before = bench::heap_calls();
  for (int i = 0; i < 2000; ++i) {  // over the end, and until it is full
    ring.push(sample.record);
    if (i < 500) {
      ring.take(ring.head(), [](const ReplayRecord&) {});
    }
  }
  EXPECT_EQ(bench::heap_calls(), before);
  EXPECT_GT(ring.replays_dropped(), 0U);
}

TEST(ReplayRing, TakesReplaysFromSeveralThreadsWholeAndInTheOrderOfEach) {
  constexpr std::uint64_t kProducers = 4;
  constexpr std::uint64_t kReplays = 20'000;
  ReplayRing ring(60'000);  // full most of the time
  std::atomic<std::uint64_t> running{kProducers};
  std::vector<std::thread> producers;
  for (std::uint64_t p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (std::uint64_t n = 0; n < kReplays; ++n) {
        ring.push(Sample(p, n).record);
      }
      --running;
    });
  }
  std::vector<std::uint64_t> next(kProducers, 0);
  std::uint64_t taken = 0;
  std::uint64_t untimed = 0;
  std::uint64_t broken = 0;
  for (bool last = false; !last;) {
    last = running == 0;
    while (ring.take(ring.head(), [&](const ReplayRecord& got) {
      ++taken;
      const bool known = got.recording < kProducers && got.sequence >= next[got.recording];
      broken += known && intact(got) ? 0U : 1U;
      if (known) {
        next[got.recording] = got.sequence + 1;
        const bool timed = !Sample(got.recording, got.sequence).ticks.empty();
        untimed += timed && got.step_ticks.empty() ? 1U : 0U;
      }
    })) {
    }
  }
  for (std::thread& producer : producers) {
    producer.join();
  }
  EXPECT_EQ(broken, 0U);
  EXPECT_EQ(taken + ring.replays_dropped(), kProducers * kReplays);
  EXPECT_GE(ring.timings_dropped(), untimed);
  EXPECT_LE(ring.timings_dropped(), untimed + ring.replays_dropped());
  EXPECT_EQ(ring.pending_bytes(), 0U);
  EXPECT_EQ(ring.pending_replays(), 0U);
  EXPECT_GT(taken, 0U);
}

TEST(ReplayRing, TakesNoReplayBeforeItIsWhole) {
  constexpr std::uint64_t kReplays = 2000;
  ReplayRing ring(40'000);
  std::thread producer([&] {
    for (std::uint64_t n = 0; n < kReplays; ++n) {
      const std::vector<std::uint64_t> ticks(500 + n % 7, n);
      ReplayRecord record;
      record.sequence = n;
      record.step_ticks = ticks;
      while (ring.pending_bytes() != 0) {  // the consumer waits for every single one
        std::this_thread::yield();
      }
      ring.push(record);
    }
  });
  std::uint64_t next = 0;
  std::uint64_t broken = 0;
  while (next < kReplays && broken == 0) {
    ring.take(ring.head(), [&](const ReplayRecord& got) {
      const bool whole = got.sequence == next && got.step_ticks.size() == 500 + next % 7 &&
                         std::ranges::count(got.step_ticks, next) == std::ssize(got.step_ticks);
      broken += whole ? 0U : 1U;
      ++next;
    });
  }
  producer.join();
  EXPECT_EQ(broken, 0U);
}

}  // namespace
}  // namespace reprise
