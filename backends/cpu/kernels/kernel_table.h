// All kernels: one file each here, named after its op, with a function plan_<op>().
#pragma once
#include <span>

#include "backends/cpu/kernel.h"

namespace reprise::cpu {

struct NamedKernel {
  std::string_view op;
  bool (*plan)(const KernelCall& call, KernelPlan& plan);
};

/// Generated from the list of ops in framework/ops/CMakeLists.txt and the files found here.
std::span<const NamedKernel> all_kernels();

}  // namespace reprise::cpu
