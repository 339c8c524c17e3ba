// Lifecycle of an open device and its most recent error.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "reprise/core/device_info.h"

namespace reprise {

/// The state of an open device.
/// Lifetime: shared by a backend and its users that outlive it.
/// Threads: all members may be called concurrently.
class DeviceLife {
 public:
  /// `device` is its name, for messages.
  explicit DeviceLife(std::string device) : device_(std::move(device)) {}

  DeviceState state() const { return state_.load(std::memory_order_acquire); }
  /// Checks that new work is possible.
  /// Errors: device_lost with the first failure, shut_down.
  void require_ready() const {
    if (state() != DeviceState::ready) {
      refuse();
    }
  }
  /// Checks that submitted work can be asked about.
  /// Errors: device_lost with the first failure.
  void require_alive() const {
    if (state() == DeviceState::lost) {
      refuse();
    }
  }
  /// Marks the device as lost; keeps the first failure.
  void lose(const std::string& failure);
  /// Marks the device as shut down; a lost one stays lost.
  void shut_down();

  /// Keeps `error` as the most recent one.
  void note(const Error& error) noexcept;
  std::optional<DeviceError> last_error() const;

 private:
  [[noreturn]] void refuse() const;

  const std::string device_;
  std::atomic<DeviceState> state_{DeviceState::ready};
  mutable std::mutex mutex_;
  std::string failure_;
  std::optional<DeviceError> last_error_;
};

}  // namespace reprise
