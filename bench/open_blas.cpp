#include "bench/open_blas.h"

#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

#include <cblas.h>

namespace reprise::bench {
namespace {

/// The best kernels of OpenBLAS 0.3.21 for this processor; null: its own choice.
const char* core_type() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") != 0) {
    return "Haswell";
  }
#endif
  return nullptr;
}

}  // namespace

OpenBlas::OpenBlas(unsigned threads) {
  if (const char* core = core_type()) {
    setenv("OPENBLAS_CORETYPE", core, 0);
  }
  // Threads of OpenBLAS live until the process ends: it must stay loaded.
  library_ = {dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), [](void*) {}};
  if (library_ == nullptr) {
    throw std::runtime_error("OpenBLAS cannot be loaded: " + std::string(dlerror()) + ".");
  }
  find<decltype(openblas_set_num_threads)>("openblas_set_num_threads")(static_cast<int>(threads));
}

std::string OpenBlas::core() const {
  return find<decltype(openblas_get_corename)>("openblas_get_corename")();
}

void OpenBlas::multiply(std::int64_t n, std::int64_t m, std::int64_t k, const float* x,
                        const float* w, float* y) const {
  const auto rows = static_cast<blasint>(n);
  const auto columns = static_cast<blasint>(m);
  const auto depth = static_cast<blasint>(k);
  find<decltype(cblas_sgemm)>("cblas_sgemm")(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns,
                                             depth, 1, x, depth, w, depth, 0, y, columns);
}

template <class F>
F* OpenBlas::find(const char* name) const {
  auto* const function = reinterpret_cast<F*>(dlsym(library_.get(), name));
  if (function == nullptr) {
    throw std::runtime_error("OpenBLAS has no function " + std::string(name) + ".");
  }
  return function;
}

}  // namespace reprise::bench
