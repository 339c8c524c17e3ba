// Memory that kernels compute in, shared by all encodings of a backend: one submission runs at a
// time. It only grows, so sessions that repeat allocate nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace reprise::cpu {

/// May be called concurrently.
class Scratch {
 public:
  /// At least that many bytes, 64-byte aligned; kept while somebody holds them. Throws
  /// out_of_memory.
  std::shared_ptr<std::byte> at_least(std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace reprise::cpu
