// Tensor: an owning one-pointer handle. TensorRef: the borrowed form that ops take.
// Records live in slabs; a slab dies with its owner (a session or a buffer) and its last handle.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reprise/core/buffer.h"
#include "reprise/core/dtype.h"
#include "reprise/core/shape.h"

namespace reprise {

/// What a tensor looks like in memory. Strides count elements; block formats are always contiguous.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::f32;
  Strides strides{};

  TensorSpec() = default;
  TensorSpec(const Shape& of_shape, DType type)
      : shape(of_shape), dtype(type), strides(contiguous_strides(of_shape)) {}
  /// Throws invalid_argument for negative strides and for reaches above Shape::kMaxElements.
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
  /// Bytes from the first to the last element, gaps of strided views included.
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
  /// Bytes of the elements alone.
  std::uint64_t bytes() const {
    return bytes_of(dtype, static_cast<std::uint64_t>(shape.elements()));
  }
};
/// "f32 [2, 3]"
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

/// Records of one owner: a session's serial, or 0 for persistent tensors. create(), collect() and
/// close() belong to the owner's thread, drop() to any.
class TensorSlab {
 public:
  /// Records come in chunks that double in size, the first one of `chunk`.
  explicit TensorSlab(std::uint64_t owner, std::size_t chunk = 32)
      : owner_(owner), next_chunk_(chunk) {}
  std::uint64_t owner() const { return owner_; }
  TensorRecord* create();
  /// Calls `dropped(record)` for every record whose last handle died since the last call.
  template <class F>
  void collect(F&& dropped) {
    TensorRecord* record = dropped_.load(std::memory_order_relaxed) == nullptr
                               ? nullptr
                               : dropped_.exchange(nullptr, std::memory_order_acquire);
    while (record != nullptr) {
      TensorRecord* next = record->next;
      dropped(*record);
      record->next = free_;
      free_ = record;
      record = next;
    }
  }
  void drop(TensorRecord* record);
  /// The owner is gone: the slab deletes itself with the last handle.
  void close();

 private:
  static TensorRecord* closed();
  std::uint64_t owner_;
  std::size_t next_chunk_;
  std::size_t left_ = 0;     // records of the last chunk that were never handed out
  std::size_t created_ = 0;  // records that were
  std::vector<std::unique_ptr<TensorRecord[]>> chunks_;
  TensorRecord* next_ = nullptr;
  TensorRecord* free_ = nullptr;
  std::atomic<TensorRecord*> dropped_{nullptr};
  std::atomic<std::int64_t> remaining_{0};  // counted only after close()
};

/// Shared ownership of one tensor. Copies of a handle may be used and dropped on any thread.
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

  /// A tensor over persistent memory. Throws invalid_argument if it does not fit into the buffer.
  static Tensor over(std::shared_ptr<Buffer> buffer, const TensorSpec& spec,
                     std::uint64_t offset = 0, std::string name = {});

  explicit operator bool() const { return record_ != nullptr; }
  const Shape& shape() const { return record_->spec.shape; }
  DType dtype() const { return record_->spec.dtype; }
  const TensorSpec& spec() const { return record_->spec; }
  /// The name of a persistent tensor. Empty for a session's transient, which its graph names.
  const std::string& name() const { return record_->name; }

 private:
  friend class TensorRef;
  void release() {
    // A sole owner needs no read-modify-write: nobody else can copy the handle.
    if (record_ != nullptr && (record_->handles.load(std::memory_order_acquire) == 1 ||
                               record_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1)) {
      record_->slab->drop(record_);
    }
  }
  TensorRecord* record_ = nullptr;
};

/// Borrowed for the length of one call, like string_view.
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

/// A tensor in a struct of arguments, {.mask = x}; {} means absent. The struct owns it, so it may
/// outlive the tensor it was given.
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
