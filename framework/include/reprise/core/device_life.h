// What becomes of an opened device, and what went wrong on it last.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "reprise/core/error.h"

namespace reprise {

enum class DeviceState : std::uint8_t {
  ready,
  shut_down,  // by its user: what was submitted is complete, nothing new is taken
  lost,       // it failed: only opening it again helps
};
std::string_view name_of(DeviceState state);

/// An error as status() shows it.
struct DeviceError {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;
  std::uint32_t op = ErrorPlace::kNoOp;  // of a recording: which op
  std::string scope;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
};

/// Shared by a backend and what outlives it. All members may be called concurrently.
class DeviceLife {
 public:
  /// `device`: its name, for messages.
  explicit DeviceLife(std::string device) : device_(std::move(device)) {}

  DeviceState state() const { return state_.load(std::memory_order_acquire); }
  /// Throws device_lost with the first failure, or shut_down: for what makes new work.
  void require_ready() const {
    if (state() != DeviceState::ready) {
      refuse();
    }
  }
  /// Throws device_lost with the first failure: for what asks about work that was submitted.
  void require_alive() const {
    if (state() == DeviceState::lost) {
      refuse();
    }
  }
  /// The first failure counts.
  void lose(const std::string& failure);
  /// A lost device stays lost.
  void shut_down();

  /// Keeps it as the last one.
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
