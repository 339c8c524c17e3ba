// ParamStore: weights by name. Passes declare the params they read, the host sets them. Graphs that
// share a store share its memory.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/device.h"

namespace reprise {

/// Weights by name.
/// Errors: invalid_argument from all members if it is empty, as a default constructed one is.
/// Lifetime: copies share the store; copying is cheap.
/// Threads: all members may be called concurrently.
class ParamStore {
 public:
  struct Param {
    std::string name;
    TensorSpec spec;
    bool set = false;
  };

  ParamStore() = default;
  explicit ParamStore(const Device& device);
  explicit operator bool() const { return memory_ != nullptr; }
  bool operator==(const ParamStore& other) const = default;

  /// Returns the persistent tensor of that name; the first call allocates it, unset.
  /// Errors: shape_mismatch or dtype_mismatch if it was declared otherwise; out_of_memory.
  Tensor declare(std::string_view name, const Shape& shape, DType dtype = DType::f32) const;
  /// Makes a persistent tensor of the caller's that param, for example weights in a mapped file.
  /// The param counts as set.
  /// Errors: invalid_argument if there is one of that name already.
  void adopt(std::string_view name, const Tensor& tensor) const;
  /// Sets all values of a param; work in flight still reads the old ones. Nothing is converted, cut
  /// or padded.
  /// Errors: unknown_name, dtype_mismatch, size_mismatch.
  void set(std::string_view name, std::span<const float> values) const;
  void set(std::string_view name, std::span<const std::byte> bytes, DType dtype) const;

  /// Finds a param.
  /// Errors: unknown_name, listing all params.
  Tensor find(std::string_view name) const;
  /// Returns the params in the order they were declared.
  std::vector<Param> params() const;
  /// Returns the bytes of device memory.
  std::uint64_t bytes() const;
  /// Returns how many params were declared and not set; 0 costs one load.
  std::size_t unset() const;

 private:
  struct Memory;
  Memory& memory() const;
  std::shared_ptr<Memory> memory_;
};

}  // namespace reprise
