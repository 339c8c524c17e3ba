// Every chunk of every job runs exactly once, whatever the threads do.
#include "backends/cpu/thread_pool.h"

#include <array>

#include "tests/testing.h"

namespace reprise::cpu {
namespace {

constexpr std::uint32_t kChunks = 1000;

struct Counted {
  std::array<std::atomic<int>, kChunks> runs{};
  std::atomic<unsigned> highest_thread{0};
  static void run(const void* context, unsigned thread, std::uint32_t chunk) {
    auto& self = *static_cast<Counted*>(const_cast<void*>(context));
    ++self.runs.at(chunk);
    unsigned highest = self.highest_thread;
    while (thread > highest && !self.highest_thread.compare_exchange_weak(highest, thread)) {
    }
  }
};

class ThreadPoolOf : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolOf, ::testing::Values(1U, 2U, 3U, 16U));

TEST_P(ThreadPoolOf, RunsEveryChunkOfManyJobsOnce) {
  ThreadPool pool(GetParam());
  pool.start();
  for (std::uint32_t job = 0; job < 300; ++job) {
    Counted counted;
    const std::uint32_t chunks = job * 7 % kChunks;
    pool.run(chunks, Counted::run, &counted);
    for (std::uint32_t i = 0; i < kChunks; ++i) {
      ASSERT_EQ(counted.runs[i], i < chunks ? 1 : 0) << "chunk " << i << " of job " << job;
    }
    ASSERT_LT(counted.highest_thread, GetParam());
  }
}

TEST(ThreadPool, WakesThreadsThatWentToSleep) {
  struct Shared {
    const std::chrono::steady_clock::time_point end =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::atomic<int> running{0};
    /// The first chunk waits for another thread to begin the second.
    static void run(const void* context, unsigned /*thread*/, std::uint32_t /*chunk*/) {
      auto& self = *static_cast<Shared*>(const_cast<void*>(context));
      ++self.running;
      while (self.running < 2 && std::chrono::steady_clock::now() < self.end) {
        std::this_thread::yield();
      }
    }
  };
  ThreadPool pool(2);
  pool.start();
  for (int job = 0; job < 5; ++job) {
    while (pool.sleeping() < 1) {
      std::this_thread::yield();
    }
    Shared shared;
    pool.run(2, Shared::run, &shared);
    ASSERT_LT(std::chrono::steady_clock::now(), shared.end);
  }
}

TEST(ThreadPool, WithoutItsThreadsTheCallerRunsAllChunks) {
  ThreadPool pool(4);
  Counted counted;
  pool.run(kChunks, Counted::run, &counted);
  for (const std::atomic<int>& runs : counted.runs) {
    ASSERT_EQ(runs, 1);
  }
  EXPECT_EQ(counted.highest_thread, 0U);
}

TEST(ThreadPool, AThreadThatIsHeldUpDelaysItsOwnChunkAlone) {
  struct Held {
    std::atomic<int> done{0};
    static void run(const void* context, unsigned /*thread*/, std::uint32_t chunk) {
      auto& self = *static_cast<Held*>(const_cast<void*>(context));
      if (chunk == 0) {  // the first that is taken
        while (self.done != int{kChunks} - 1) {
          std::this_thread::yield();
        }
      }
      ++self.done;
    }
  } held;
  ThreadPool pool(2);
  pool.start();
  pool.run(kChunks, Held::run, &held);
  EXPECT_EQ(held.done, int{kChunks});
}

}  // namespace
}  // namespace reprise::cpu
