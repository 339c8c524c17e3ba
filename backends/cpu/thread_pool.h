// Threads that share the chunks of one job at a time: each takes its own ones in their order, so
// that it goes through memory that lies together, and then the last ones of others. The calling
// thread takes part and never waits for a thread to arrive, only for chunks that were begun: where
// the system gives the other threads no time, it does all the work itself.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace reprise::cpu {

class ThreadPool {
 public:
  /// Runs one chunk; must not throw. `thread` is below threads(), and 0 is the caller of run().
  using Function = void (*)(const void* context, unsigned thread, std::uint32_t chunk);

  /// Of `threads` in all, with the calling one.
  explicit ThreadPool(unsigned threads)
      : threads_(threads), shares_(std::make_unique<Share[]>(threads)) {}
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
  /// The chunks of a thread that nobody took. A cache line, which is all that a thread has to read
  /// to begin.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> untaken{0};  // first and, in the high half, behind the last
    // Valid while chunks of the job are not done: whoever took one may read them.
    Function function = nullptr;
    const void* context = nullptr;

    bool empty() const;
    void set(std::uint32_t first, std::uint32_t end, Function f, const void* c);
    /// The first one, or the last.
    std::optional<std::uint32_t> take(bool from_front);
  };

  void work(unsigned thread);
  /// Runs chunks while there are any.
  void take_chunks(unsigned thread);
  bool wait_for_chunks(const Share& own);

  const unsigned threads_;
  const std::unique_ptr<Share[]> shares_;  // of every thread
  alignas(64) std::atomic<std::uint32_t> undone_{0};
  alignas(64) std::atomic<unsigned> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
  bool started_ = false;
};

}  // namespace reprise::cpu
