// Memory that kernels compute in, shared by all encodings of a backend: one submission runs at a
// time. It only grows, so sessions that repeat allocate nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace reprise::cpu {

/// Of all memory of the backend: a line of the caches, and the widest vector.
inline constexpr std::size_t kAlignment = 64;

/// May be called concurrently.
class Scratch {
 public:
  /// At least that many bytes, aligned to kAlignment; kept while somebody holds them. Throws
  /// out_of_memory.
  std::shared_ptr<std::byte> at_least(std::uint64_t bytes);
  /// Lets go of it: encodings keep what they have.
  void trim();

 private:
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace reprise::cpu
