// Which buffers an encoding uses and how. The queue asks when the host wants to touch a buffer that
// may be in flight: the rare host access pays, not every submission.
#pragma once
#include <memory>
#include <vector>

#include "reprise/core/buffer.h"
#include "reprise/core/op.h"

namespace reprise {

class BufferUses {
 public:
  /// `pool` is the caller's number for the buffer: one of few, the same for the same buffer.
  void add(std::uint32_t pool, const std::shared_ptr<Buffer>& buffer, Access access) {
    if (pool >= uses_.size()) {
      uses_.resize(pool + std::size_t{1});
    }
    Use& use = uses_[pool];
    if (use.buffer == nullptr) {
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
};

}  // namespace reprise
