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

bool ThreadPool::Share::empty() const {
  const std::uint64_t left = untaken.load();
  return static_cast<std::uint32_t>(left) >= left >> 32U;
}

void ThreadPool::Share::set(std::uint32_t first, std::uint32_t end, Function f, const void* c) {
  function = f;
  context = c;
  untaken.store(std::uint64_t{end} << 32U | first);
}

std::optional<std::uint32_t> ThreadPool::Share::take(bool from_front) {
  std::uint64_t left = untaken.load(std::memory_order_acquire);
  while (true) {
    const auto first = static_cast<std::uint32_t>(left);
    const auto end = static_cast<std::uint32_t>(left >> 32U);
    if (first >= end) {
      return std::nullopt;
    }
    const std::uint64_t without = from_front ? left + 1 : left - (std::uint64_t{1} << 32U);
    if (untaken.compare_exchange_weak(left, without, std::memory_order_acquire)) {
      return from_front ? first : end - 1;
    }
  }
}

void ThreadPool::run(std::uint32_t chunks, Function function, const void* context) {
  undone_.store(chunks, std::memory_order_relaxed);
  const auto begin_of = [&](std::uint64_t thread) {
    return static_cast<std::uint32_t>(chunks * thread / threads_);
  };
  for (unsigned thread = threads_; thread-- > 0;) {
    shares_[thread].set(begin_of(thread), begin_of(thread + 1), function, context);
  }
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
  std::uint32_t done = 0;
  for (unsigned i = 0; i < threads_; ++i) {
    Share& share = shares_[(thread + i) % threads_];
    while (const std::optional<std::uint32_t> chunk = share.take(i == 0)) {
      share.function(share.context, thread, *chunk);
      ++done;
    }
  }
  if (done > 0) {
    undone_.fetch_sub(done, std::memory_order_release);
  }
}

bool ThreadPool::wait_for_chunks(const Share& own) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kChecks; ++i) {
      if (!own.empty()) {
        return true;
      }
      pause();
    }
  } while (std::chrono::steady_clock::now() < until && !stopping_);
  std::unique_lock lock(mutex_);
  ++sleepers_;
  wake_.wait(lock, [&] { return stopping_ || !own.empty(); });
  --sleepers_;
  return !stopping_;
}

void ThreadPool::work(unsigned thread) {
  while (wait_for_chunks(shares_[thread])) {
    take_chunks(thread);
  }
}

}  // namespace reprise::cpu
