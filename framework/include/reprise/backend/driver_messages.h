// DriverMessages: messages of a driver, or of the validation in front of it, for listeners.
#pragma once
#include <mutex>
#include <string_view>
#include <vector>

#include "reprise/core/log.h"

namespace reprise {

/// A message about a call of the driver.
/// Lifetime: the call of receive() only.
struct DriverMessage {
  LogLevel level = LogLevel::warning;
  std::string_view code;  // "SYNC-HAZARD-READ_AFTER_WRITE"; may be empty
  std::string_view text;
};

class DriverListener {
 public:
  virtual ~DriverListener() = default;
  /// Receives a message, inside of the call that it is about. It may call neither the driver nor
  /// DriverMessages, nor wait for a thread that does.
  /// Threads: called on the thread that makes the call, where the driver knows which one that is.
  virtual void receive(const DriverMessage& message) noexcept = 0;
};

/// A list of listeners.
/// Errors: std::bad_alloc from add().
/// Lifetime: shared by a backend and its listeners; the backend may be gone before a listener is
/// removed.
/// Threads: thread-safe.
class DriverMessages {
 public:
  /// Adds a listener.
  /// Lifetime: the listener has to outlive the remove() that ends its use.
  void add(DriverListener& listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(&listener);
  }
  /// Removes a listener. Waits for calls of it under way; no call follows.
  void remove(DriverListener& listener) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(listeners_, &listener);
  }
  void send(const DriverMessage& message) {
    const std::lock_guard lock(mutex_);
    for (DriverListener* listener : listeners_) {
      listener->receive(message);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<DriverListener*> listeners_;
};

}  // namespace reprise
