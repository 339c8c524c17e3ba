// PassMutex: held while a pass of the caller's runs. A pass that would wait for itself is told.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "reprise/core/error.h"

namespace reprise {

/// For std::lock_guard and std::unique_lock.
class PassMutex {
 public:
  /// `refusal`: what a thread is told that holds it already.
  explicit PassMutex(std::string refusal) : refusal_(std::move(refusal)) {}
  /// Errors: invalid_argument.
  void lock() {
    if (holder_.load() == std::this_thread::get_id()) {
      throw_invalid_argument(refusal_);
    }
    mutex_.lock();
    holder_ = std::this_thread::get_id();
  }
  bool try_lock() {
    const bool locked = holder_.load() != std::this_thread::get_id() && mutex_.try_lock();
    if (locked) {
      holder_ = std::this_thread::get_id();
    }
    return locked;
  }
  void unlock() {
    holder_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::string refusal_;
  std::mutex mutex_;
  std::atomic<std::thread::id> holder_{};  // any thread may look
};

}  // namespace reprise
