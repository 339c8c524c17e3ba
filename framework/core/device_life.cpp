#include "reprise/backend/device_life.h"

#include <array>
#include <chrono>

namespace reprise {

std::string_view name_of(DeviceState state) {
  constexpr std::array<std::string_view, 3> kNames{"ready", "shut down", "lost"};
  return kNames[static_cast<std::size_t>(state)];
}

void DeviceLife::lose(const std::string& failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) {
    failure_ = failure;
  }
  state_.store(DeviceState::lost, std::memory_order_release);
}

void DeviceLife::shut_down() {
  DeviceState expected = DeviceState::ready;
  state_.compare_exchange_strong(expected, DeviceState::shut_down);
}

void DeviceLife::refuse() const {
  if (state() == DeviceState::shut_down) {
    throw_error(ErrorCode::shut_down, "The device (", device_,
                ") was shut down; open it again for new work.");
  }
  const std::lock_guard lock(mutex_);
  throw_error(ErrorCode::device_lost, "The device (", device_,
              ") is lost and has to be opened again. The first failure was: ", failure_);
}

void DeviceLife::note(const Error& error) noexcept {
  try {
    DeviceError kept{error.code(), error.what(), error.place().op, error.place().scope,
                     std::chrono::steady_clock::now().time_since_epoch().count()};
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(kept);
  } catch (const std::bad_alloc&) {  // the error itself is on its way to the caller
  }
}

std::optional<DeviceError> DeviceLife::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace reprise
