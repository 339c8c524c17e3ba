#include "backends/cpu/thread_pool.h"

#include <chrono>
#include <system_error>

namespace reprise::cpu {
namespace {

// Longer than the small steps between two large ones, shorter than anybody else would miss.
constexpr std::chrono::microseconds kSpin{50};
// Checks of a condition between two looks at the clock: about a microsecond.
constexpr int kChecks = 32;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::~ThreadPool() {
  stopping_ = true;
  { const std::lock_guard lock(mutex_); }
  wake_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::start() {
  const std::lock_guard lock(mutex_);
  try {
    workers_.reserve(threads_ - 1);
    while (!started_ && workers_.size() + 1 < threads_) {
      const auto thread = static_cast<unsigned>(workers_.size() + 1);
      workers_.emplace_back([this, thread] { work(thread); });
    }
  } catch (const std::system_error&) {  // the system gives no more
  }
  started_ = true;
}

void ThreadPool::run(std::uint32_t chunks, Function function, const void* context) {
  function_ = function;
  context_ = context;
  undone_.store(chunks, std::memory_order_relaxed);
  untaken_.store(chunks);
  // Ordered with the sleeper's own count and check: one of the two sees the other.
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0);
  for (int checks = 0; undone_.load(std::memory_order_acquire) != 0;) {
    if (++checks < kChecks * 10) {
      pause();
    } else {
      std::this_thread::yield();  // whoever has the chunk may be waiting for this core
    }
  }
}

void ThreadPool::take_chunks(unsigned thread) {
  std::uint32_t left = untaken_.load(std::memory_order_acquire);
  while (left > 0) {
    if (untaken_.compare_exchange_weak(left, left - 1, std::memory_order_acquire)) {
      function_(context_, thread, left - 1);
      undone_.fetch_sub(1, std::memory_order_release);
      left = untaken_.load(std::memory_order_acquire);
    }
  }
}

bool ThreadPool::wait_for_chunks() {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kChecks; ++i) {
      if (untaken_.load(std::memory_order_relaxed) > 0) {
        return true;
      }
      pause();
    }
  } while (std::chrono::steady_clock::now() < until && !stopping_);
  std::unique_lock lock(mutex_);
  ++sleepers_;
  wake_.wait(lock, [this] { return stopping_ || untaken_.load() > 0; });
  --sleepers_;
  return !stopping_;
}

void ThreadPool::work(unsigned thread) {
  while (wait_for_chunks()) {
    take_chunks(thread);
  }
}

}  // namespace reprise::cpu
