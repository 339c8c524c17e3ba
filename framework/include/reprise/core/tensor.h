// Tensor: an owning one-pointer handle. TensorRef: the borrowed form that ops take.
// Records live in slabs; a slab dies with its owner (a session or a buffer) and its last handle.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "reprise/core/buffer.h"
#include "reprise/core/dtype.h"
#include "reprise/core/shape.h"

namespace reprise {

/// Shape, dtype and strides of a tensor. Strides count elements; block formats are always
/// contiguous.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::f32;
  Strides strides{};

  TensorSpec() = default;
  TensorSpec(const Shape& of_shape, DType type)
      : shape(of_shape), dtype(type), strides(contiguous_strides(of_shape)) {}
  /// Errors: invalid_argument for negative strides and for reaches above Shape::kMaxElements.
  TensorSpec(const Shape& of_shape, DType type, const Strides& with);

  bool contiguous() const {
    std::int64_t step = 1;
    for (std::size_t i = shape.rank(); i-- > 0;) {
      if (shape.dim(i) != 1 && strides[i] != step) {
        return false;
      }
      step *= shape.dim(i);
    }
    return true;
  }
  /// Returns the bytes from the first to the last element, gaps of strided views included.
  std::uint64_t span_bytes() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (shape.dim(i) == 0) {
        return 0;
      }
      last += (shape.dim(i) - 1) * strides[i];
    }
    return bytes_of(dtype, static_cast<std::uint64_t>(last) + 1);
  }
  /// Returns the bytes of the elements alone.
  std::uint64_t bytes() const {
    return bytes_of(dtype, static_cast<std::uint64_t>(shape.elements()));
  }
};
/// Returns "f32 [2, 3]".
std::string to_string(const TensorSpec& spec);

class TensorSlab;
struct TensorRecord {
  TensorSpec spec;
  TensorSlab* slab = nullptr;
  std::shared_ptr<Buffer> buffer;  // null for a session's transient
  std::uint64_t offset = 0;        // bytes inside the buffer, or inside the transient's storage
  std::uint32_t index = 0;         // in the owning session's graph; unused for persistent tensors
  std::string name;                // of persistent tensors; transients are named by their graph
  std::atomic<std::uint32_t> handles{0};
  TensorRecord* next = nullptr;  // in a list of dropped records
};

/// Shared ownership of one tensor.
/// Threads: copies of a handle may be used and dropped on any thread.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorRecord* record) : record_(record) {
    record_->handles.store(1, std::memory_order_relaxed);
  }
  Tensor(const Tensor& other) : record_(other.record_) {
    if (record_ != nullptr) {
      record_->handles.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Tensor(Tensor&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~Tensor() { release(); }

  /// Makes a tensor over persistent memory.
  /// Errors: invalid_argument if it does not fit into the buffer.
  static Tensor over(std::shared_ptr<Buffer> buffer, const TensorSpec& spec,
                     std::uint64_t offset = 0, std::string name = {});

  explicit operator bool() const { return record_ != nullptr; }
  const Shape& shape() const { return record_->spec.shape; }
  DType dtype() const { return record_->spec.dtype; }
  const TensorSpec& spec() const { return record_->spec; }
  /// Returns the name of a persistent tensor. Empty for a session's transient, which its graph
  /// names.
  const std::string& name() const { return record_->name; }

 private:
  friend class TensorRef;
  static void drop(TensorRecord* record);
  void release() {
    // A sole owner needs no read-modify-write: nobody else can copy the handle.
    if (record_ != nullptr && (record_->handles.load(std::memory_order_acquire) == 1 ||
                               record_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      drop(record_);
    }
  }
  TensorRecord* record_ = nullptr;
};

/// A tensor as an argument.
/// Lifetime: borrowed for the length of one call, like string_view.
class TensorRef {
 public:
  TensorRef() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  TensorRef(const Tensor& tensor) : record_(tensor.record_) {}
  explicit operator bool() const { return record_ != nullptr; }
  Tensor own() const {
    Tensor tensor;
    tensor.record_ = record_;
    record_->handles.fetch_add(1, std::memory_order_relaxed);
    return tensor;
  }
  const TensorRecord& operator*() const { return *record_; }
  const TensorRecord* operator->() const { return record_; }
  const Shape& shape() const { return record_->spec.shape; }
  DType dtype() const { return record_->spec.dtype; }
  const TensorSpec& spec() const { return record_->spec; }

 private:
  TensorRecord* record_ = nullptr;
};

/// A tensor in a struct of arguments, {.mask = x}; {} means absent.
/// Lifetime: owned by the struct, which may outlive the tensor it was given.
class TensorArgument {
 public:
  TensorArgument() = default;
  TensorArgument(Tensor tensor)  // NOLINT(google-explicit-constructor)
      : tensor_(std::move(tensor)) {}
  TensorArgument(TensorRef tensor)  // NOLINT(google-explicit-constructor)
      : tensor_(tensor ? tensor.own() : Tensor()) {}
  operator TensorRef() const { return tensor_; }  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return static_cast<bool>(tensor_); }

 private:
  Tensor tensor_;
};

}  // namespace reprise
