// Says which calls of SQLite into the process fail: to its allocator or to its files. Both are in
// this program from its start and pass everything on while nothing is armed.
#pragma once
#include <atomic>
#include <cstdint>

namespace reprise::test {

/// What becomes of the calls after the one that fails; with `dies` the process is killed by it.
enum class Later : std::uint8_t { works, fails, dies };

class Injector {
 public:
  /// The k-th call from here on fails, counted from 1 over all threads; those after it as `later`
  /// says. Calls are counted anew.
  void arm(std::uint64_t k, Later later);
  void disarm() { armed_ = false; }
  /// By the call itself.
  bool fails();
  std::uint64_t calls() const { return calls_; }
  std::uint64_t failures() const { return failures_; }

 private:
  std::atomic<bool> armed_{false};
  std::atomic<std::uint64_t> calls_{0}, failures_{0}, first_{0};
  std::atomic<Later> later_{Later::works};
};

/// Allocations, and those that become larger.
Injector& failing_memory();
/// What SQLite asks of files: opening, reading, writing, cutting, syncing, locking, removing, sizes
/// and shared memory. Writes that fail leave the first half of their bytes. Half of the failures,
/// by their number, say that the disk is full where a write could.
Injector& failing_files();

/// Before the first use of SQLite. Nothing is really synced from then on: only power loss would
/// tell.
void install_failing_memory();
void install_failing_files();

}  // namespace reprise::test
