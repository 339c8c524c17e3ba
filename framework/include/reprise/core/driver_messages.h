// DriverMessages: what a driver, or the validation in front of it, says about the calls it gets,
// for whoever listens.
#pragma once
#include <mutex>
#include <string_view>
#include <vector>

#include "reprise/core/log.h"

namespace reprise {

/// Read during the call only.
struct DriverMessage {
  LogLevel level = LogLevel::warning;
  std::string_view code;  // "SYNC-HAZARD-READ_AFTER_WRITE"; may be empty
  std::string_view text;
};

class DriverListener {
 public:
  virtual ~DriverListener() = default;
  /// Where the driver knows which call a message is about, on the thread that makes the call, and
  /// inside of it: it may call neither the driver nor DriverMessages, nor wait for whoever does.
  virtual void receive(const DriverMessage& message) noexcept = 0;
};

/// Thread-safe. Shared by a backend and its listeners: the backend may be gone before a listener is
/// removed. add() throws std::bad_alloc.
class DriverMessages {
 public:
  /// Until remove(), which the listener has to outlive.
  void add(DriverListener& listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(&listener);
  }
  /// Waits for calls of it under way; there are none afterwards.
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
