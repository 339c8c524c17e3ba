// HostCall: an op that runs on the host, over tensors in its memory.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "reprise/core/operand.h"

namespace reprise {

struct OpDef;

/// A tensor in host memory. Elements are reached through at(), strides applied.
struct HostTensor {
  std::byte* data = nullptr;
  const TensorSpec* spec = nullptr;
  explicit operator bool() const { return data != nullptr; }
  const Shape& shape() const { return spec->shape; }
  DType dtype() const { return spec->dtype; }
  /// Returns the element index of the row (i0, i1, i2) of the shape padded to four dimensions.
  std::int64_t row(std::int64_t i0, std::int64_t i1, std::int64_t i2) const;
  /// Reads or writes one element by index, converting. Plain types only.
  double load(std::int64_t element) const;
  void store(std::int64_t element, double value) const;
  std::int64_t load_integer(std::int64_t element) const;
};

struct HostCall {
  const OpDef& op;
  std::span<const HostTensor> tensors;  // operands, then results; absent ones are empty
  std::span<const std::byte> attributes;
  const std::uint32_t* state;  // null if no attribute is dynamic
  template <class A>
  const A& as() const {
    return *reinterpret_cast<const A*>(attributes.data());
  }
  template <class T>
  T value(const Param<T>& param) const {
    return param.dynamic() ? std::bit_cast<T>(state[param.word]) : param.value;
  }
};

/// Returns the name of an op, which its shaders and database rows have too.
std::string_view name_of(const OpDef& op);
/// Runs the reference of the op, which defines its meaning: sums are float64.
void run_reference(const HostCall& call);
/// Returns the owner of an op that was made while the program runs; null for ops of the library.
std::shared_ptr<const OpDef> owner_of(const OpDef& op);

}  // namespace reprise
