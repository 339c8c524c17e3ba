// Buffers that an encoding uses, and how. The queue asks when the host wants to touch a buffer that
// may be in flight: the rare host access pays, not every submission. While commands are encoded the
// buffers are pinned, because another thread may free them meanwhile.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "reprise/core/buffer.h"
#include "reprise/core/operand.h"

namespace reprise {

class BufferUses {
 public:
  BufferUses() = default;
  BufferUses(const BufferUses&) = delete;
  BufferUses& operator=(const BufferUses&) = delete;
  ~BufferUses() { unpin(); }
  /// Adds a use. `pool` is the caller's number for the buffer: a small one, always the same for the
  /// same buffer.
  /// Errors: stale for a freed buffer that was not added before.
  void add(std::uint32_t pool, const std::shared_ptr<Buffer>& buffer, Access access) {
    if (pool >= uses_.size()) {
      uses_.resize(pool + std::size_t{1});
    }
    auto& [used, access_of] = uses_[pool];
    if (used == nullptr) {
      buffer->pin();
      used = buffer;
    }
    if (used == buffer) {
      access_of |= static_cast<unsigned>(access);
    } else {
      add(static_cast<std::uint32_t>(uses_.size()), buffer, access);
    }
  }
  void add(const std::shared_ptr<Buffer>& buffer, Access access) {
    add(static_cast<std::uint32_t>(uses_.size()), buffer, access);
  }
  bool has(std::uint32_t pool, const Buffer& buffer) const {
    return pool < uses_.size() && uses_[pool].first.get() == &buffer;
  }
  /// Unpins the buffers, once no more commands are added.
  void unpin() noexcept {
    if (pinned_) {
      pinned_ = false;
      for (const auto& [used, ways] : uses_) {
        if (used != nullptr) {
          used->unpin();
        }
      }
    }
  }
  /// Checks that no buffer is freed.
  /// Errors: stale, naming the buffer.
  void require_alive() const {
    for (const auto& [used, ways] : uses_) {
      if (used != nullptr) {
        used->require_alive();
      }
    }
  }
  bool any(const Buffer& buffer, Access access) const {
    for (const auto& [used, ways] : uses_) {
      if (used.get() == &buffer && (ways & static_cast<unsigned>(access)) != 0) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<std::pair<std::shared_ptr<Buffer>, unsigned>> uses_;  // with ways of access
  bool pinned_ = true;
};

}  // namespace reprise
