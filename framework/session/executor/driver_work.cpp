#include "framework/session/executor/driver_work.h"

#include <utility>

namespace reprise {
namespace {

thread_local const DriverWork* innermost = nullptr;

}  // namespace

void DriverWork::enter() { outer_ = std::exchange(innermost, this); }

void DriverWork::leave() { innermost = outer_; }

const DriverWork* DriverWork::current(const DriverEvents& events) {
  return innermost != nullptr && innermost->events_ == &events ? innermost : nullptr;
}

}  // namespace reprise
