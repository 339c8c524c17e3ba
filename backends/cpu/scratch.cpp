#include "backends/cpu/scratch.h"

#include <new>
#include <string>

#include "reprise/core/error.h"

namespace reprise::cpu {
std::shared_ptr<std::byte> Scratch::at_least(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_) {
    auto* memory =
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
    if (memory == nullptr) {
      throw_error(ErrorCode::out_of_memory, "A kernel needs (", bytes,
                  ") bytes to compute in, which the system does "
                  "not give.");
    }
    memory_.reset(memory,
                  [](std::byte* p) { ::operator delete (p, std::align_val_t{kAlignment}); });
    bytes_ = bytes;
  }
  return memory_;
}

void Scratch::trim() {
  const std::lock_guard lock(mutex_);
  memory_.reset();
  bytes_ = 0;
}

}  // namespace reprise::cpu
