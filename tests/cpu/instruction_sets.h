// Kernels of one instruction set after the other.
#pragma once
#include <hwy/targets.h>
#include <vector>

#include "backends/cpu/kernel.h"

namespace reprise::testing {

/// Only these instruction sets while it lives.
class UseTargets {
 public:
  explicit UseTargets(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  }
  UseTargets(const UseTargets&) = delete;
  UseTargets& operator=(const UseTargets&) = delete;
  ~UseTargets() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

/// Those of this machine that kernels are compiled for.
inline std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> all;
  for (std::int64_t left = cpu::kernel_targets(); left != 0; left &= left - 1) {
    all.push_back(left & -left);
  }
  return all;
}

}  // namespace reprise::testing
