#include "backends/cpu/kernels/kernel_table.h"

#include <hwy/targets.h>

namespace reprise::cpu {
namespace {

/// Kernels read whole elements of plain types; references copy bytes.
bool aligned(const HostTensor& tensor) {
  if (!tensor) {
    return true;
  }
  const DTypeInfo& info = info_of(tensor.dtype());
  return info.block_elements != 1 ||
         reinterpret_cast<std::uintptr_t>(tensor.data) % info.block_bytes == 0;
}

}  // namespace

bool plan_kernel(const KernelCall& call, KernelPlan& plan) {
  for (const NamedKernel& kernel : all_kernels()) {
    if (kernel.op == call.op.name) {
      for (const HostTensor& tensor : call.tensors) {
        if (!aligned(tensor)) {
          return false;
        }
      }
      return kernel.plan(call, plan);
    }
  }
  return false;
}

std::int64_t kernel_targets() { return hwy::SupportedTargets() & HWY_TARGETS; }

const char* kernel_target() {
  // The lowest bit stands for the best instruction set.
  return hwy::TargetName(kernel_targets() & -kernel_targets());
}

}  // namespace reprise::cpu
