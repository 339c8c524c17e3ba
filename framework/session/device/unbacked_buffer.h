// UnbackedBuffer: memory of which only the size is there. What is recorded over it can be planned.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "reprise/core/buffer.h"
#include "reprise/core/tensor.h"

namespace reprise {

class UnbackedBuffer final : public Buffer {
 public:
  UnbackedBuffer(std::string name, std::uint64_t bytes)
      : Buffer(std::move(name), bytes, BufferKind::device) {}
  void release_memory() noexcept override {}
};

inline Tensor unbacked(const std::string& name, const TensorSpec& spec) {
  return Tensor::over(std::make_shared<UnbackedBuffer>(name, spec.span_bytes()), spec, 0, name);
}

}  // namespace reprise
