#include "tests/profile_faults/injector.h"

#include <csignal>

namespace reprise::test {

void Injector::arm(std::uint64_t k, Later later) {
  armed_ = false;
  calls_ = 0;
  failures_ = 0;
  first_ = k;
  later_ = later;
  armed_ = true;
}

bool Injector::fails() {
  if (!armed_) {
    return false;
  }
  const std::uint64_t call = ++calls_;
  const bool fails = call == first_ || (call > first_ && later_ == Later::fails);
  if (fails && later_ == Later::dies) {
    raise(SIGKILL);
  }
  failures_ += fails ? 1 : 0;
  return fails;
}

Injector& failing_memory() {
  static Injector injector;
  return injector;
}

Injector& failing_files() {
  static Injector injector;
  return injector;
}

}  // namespace reprise::test
