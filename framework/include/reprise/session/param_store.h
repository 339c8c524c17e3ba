// ParamStore: weights by name. Passes declare what they read, the host sets it; graphs that share a
// store share its memory.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/session/device.h"

namespace reprise {

/// A cheap value; copies share the store. An empty one (default constructed) means "none". All
/// members may be called concurrently.
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

  /// The persistent tensor of that name; the first call allocates it, unset. Throws shape_mismatch
  /// or dtype_mismatch if it was declared otherwise, out_of_memory.
  Tensor declare(std::string_view name, const Shape& shape, DType dtype = DType::f32) const;
  /// Makes a persistent tensor of the caller's that param: weights that lie in a mapped file, say.
  /// It counts as set. Throws invalid_argument if there is one of that name already.
  void adopt(std::string_view name, const Tensor& tensor) const;
  /// All of its values; work in flight still reads the old ones. Throws unknown_name,
  /// dtype_mismatch, size_mismatch: nothing is converted, cut or padded.
  void set(std::string_view name, std::span<const float> values) const;
  void set(std::string_view name, std::span<const std::byte> bytes, DType dtype) const;

  /// Throws unknown_name, listing those there are.
  Tensor find(std::string_view name) const;
  /// In the order they were declared.
  std::vector<Param> params() const;
  /// Of device memory.
  std::uint64_t bytes() const;
  /// Params that were declared and not set; 0 costs one load.
  std::size_t unset() const;

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

}  // namespace reprise
