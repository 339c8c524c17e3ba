// Threads that share the chunks of one job at a time. The calling thread takes part and never waits
// for a thread to arrive, only for chunks that were begun: where the system gives the other threads
// no time, it does all the work itself.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace reprise::cpu {

class ThreadPool {
 public:
  /// Runs one chunk; must not throw. `thread` is below threads(), and 0 is the caller of run().
  using Function = void (*)(const void* context, unsigned thread, std::uint32_t chunk);

  /// Of `threads` in all, with the calling one.
  explicit ThreadPool(unsigned threads) : threads_(threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  unsigned threads() const { return threads_; }
  /// Threads that found nothing to do and sleep.
  unsigned sleeping() const { return sleepers_; }
  /// Starts the other threads, once, or as many as the system gives; may be called concurrently
  /// with everything.
  void start();
  /// Runs every chunk once and returns when all are done. One caller at a time; allocates nothing.
  /// Without start() the caller runs all.
  void run(std::uint32_t chunks, Function function, const void* context);

 private:
  void work(unsigned thread);
  /// Runs chunks while there are any.
  void take_chunks(unsigned thread);
  bool wait_for_chunks();

  const unsigned threads_;
  // Valid while chunks of the job are not done: whoever took one may read them.
  Function function_ = nullptr;
  const void* context_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> untaken_{0};
  alignas(64) std::atomic<std::uint32_t> undone_{0};
  alignas(64) std::atomic<unsigned> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
  bool started_ = false;
};

}  // namespace reprise::cpu
