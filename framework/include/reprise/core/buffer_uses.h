// Which buffers an encoding uses and how. The queue asks when the host wants to touch a buffer that
// may be in flight: the rare host access pays, not every submission. While commands are encoded the
// buffers are pinned: they may be freed by another thread meanwhile.
#pragma once
#include <memory>
#include <vector>

#include "reprise/core/buffer.h"
#include "reprise/core/op.h"

namespace reprise {

class BufferUses {
 public:
  BufferUses() = default;
  BufferUses(const BufferUses&) = delete;
  BufferUses& operator=(const BufferUses&) = delete;
  ~BufferUses() { unpin(); }
  /// `pool` is the caller's number for the buffer: one of few, the same for the same buffer. Throws
  /// stale for a freed one that was not added before.
  void add(std::uint32_t pool, const std::shared_ptr<Buffer>& buffer, Access access) {
    if (pool >= uses_.size()) {
      uses_.resize(pool + std::size_t{1});
    }
    Use& use = uses_[pool];
    if (use.buffer == nullptr) {
      buffer->pin();
      use.buffer = buffer;
    }
    if (use.buffer == buffer) {
      use.access |= static_cast<unsigned>(access);
    } else {
      add(static_cast<std::uint32_t>(uses_.size()), buffer, access);
    }
  }
  void add(const std::shared_ptr<Buffer>& buffer, Access access) {
    add(static_cast<std::uint32_t>(uses_.size()), buffer, access);
  }
  bool has(std::uint32_t pool, const Buffer& buffer) const {
    return pool < uses_.size() && uses_[pool].buffer.get() == &buffer;
  }
  /// No commands are added any more.
  void unpin() noexcept {
    if (pinned_) {
      pinned_ = false;
      for (const Use& use : uses_) {
        if (use.buffer != nullptr) {
          use.buffer->unpin();
        }
      }
    }
  }
  /// Throws stale, naming a buffer that is freed.
  void require_alive() const {
    for (const Use& use : uses_) {
      if (use.buffer != nullptr) {
        use.buffer->require_alive();
      }
    }
  }
  bool any(const Buffer& buffer, Access access) const {
    for (const Use& use : uses_) {
      if (use.buffer.get() == &buffer && (use.access & static_cast<unsigned>(access)) != 0) {
        return true;
      }
    }
    return false;
  }

 private:
  struct Use {
    std::shared_ptr<Buffer> buffer;
    unsigned access = 0;
  };
  std::vector<Use> uses_;
  bool pinned_ = true;
};

}  // namespace reprise
