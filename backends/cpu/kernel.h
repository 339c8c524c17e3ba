// A kernel: a fast function for some calls of an op. It is chosen when a step is encoded, from
// types, shapes and strides alone; calls that no kernel takes run the op's reference.
#pragma once
#include <array>
#include <cstring>
#include <string_view>

#include "framework/core/op.h"
#include "reprise/core/kernel_choice.h"

namespace reprise::cpu {

/// What a kernel's function gets.
struct Work {
  const void* arguments;       // what the plan set
  const std::uint32_t* state;  // the state block; null if the op reads none
  std::byte* shared;           // KernelPlan::shared_bytes, 64-byte aligned
  std::byte* own;              // KernelPlan::own_bytes of the running thread, 64-byte aligned

  template <class A>
  const A& as() const {
    return *static_cast<const A*>(arguments);
  }
  template <class T>
  T value(const Param<T>& param) const {
    return param.dynamic() ? std::bit_cast<T>(state[param.word]) : param.value;
  }
};

/// Items that may be computed in any order, on any threads. Results must not depend on how they are
/// grouped.
struct Stage {
  void (*run)(const Work&, std::int64_t first, std::int64_t end) = nullptr;  // items [first, end)
  std::int64_t items = 1;
  double item_ns = 0;  // a rough estimate: decides what is shared out among threads
};

/// One step as a kernel runs it.
struct KernelPlan {
  static constexpr std::size_t kMaxArgumentBytes = 576;

  Stage prepare;  // where it has a function: complete before the main stage begins
  Stage main;
  std::uint64_t shared_bytes = 0;
  std::uint64_t own_bytes = 0;
  std::size_t argument_bytes = 0;
  alignas(8) std::array<std::byte, kMaxArgumentBytes> arguments;

  template <class A>
  void set_arguments(const A& a) {
    static_assert(std::is_trivially_copyable_v<A> && sizeof(A) <= kMaxArgumentBytes);
    std::memcpy(arguments.data(), &a, sizeof(A));
    argument_bytes = sizeof(A);
  }
};

/// A call as it is encoded: values of the state are not known yet.
struct KernelCall : HostCall {
  Precision precision;
};

/// The attribute of that name in the op's schema.
template <class T>
T attribute(const KernelCall& call, std::string_view name) {
  for (const Attribute& a : call.op.attributes) {
    if (a.name == name) {
      T value;
      std::memcpy(&value, call.attributes.data() + a.offset, sizeof(T));
      return value;
    }
  }
  throw_invalid_argument(call.op.name, " has no attribute '", name, "'.");
}

/// Fills `plan` and returns true if a kernel takes the call.
bool plan_kernel(const KernelCall& call, KernelPlan& plan);

/// The instruction sets that kernels are compiled for and this machine has, as bits of Highway.
std::int64_t kernel_targets();

/// The one that kernels use, e.g. "AVX3".
const char* kernel_target();

}  // namespace reprise::cpu
