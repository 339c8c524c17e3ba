// TensorSlab: where the records of tensors lie.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "reprise/core/tensor.h"

namespace reprise {

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

/// Tensor::over, for a recording whose state may have the extent of the spec.
Tensor persistent_tensor(std::shared_ptr<Buffer> buffer, const TensorSpec& spec,
                         std::uint64_t offset, std::string name);

}  // namespace reprise
