// OpenBLAS, loaded while the program runs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace reprise::bench {

/// OpenBLAS picks its kernels once, when it is loaded, and takes processors younger than itself for
/// very old ones: the choice is made for it, which a linked library would not see in time.
class OpenBlas {
 public:
  /// Throws std::runtime_error if the library cannot be loaded.
  explicit OpenBlas(unsigned threads);

  /// The kernels in use, by OpenBLAS's name: "SkylakeX".
  std::string core() const;
  /// y = x * w^T of packed matrices [n, k], [m, k] and [n, m].
  void multiply(std::int64_t n, std::int64_t m, std::int64_t k, const float* x, const float* w,
                float* y) const;

 private:
  template <class F>
  F* find(const char* name) const;

  std::shared_ptr<void> library_;
};

}  // namespace reprise::bench
