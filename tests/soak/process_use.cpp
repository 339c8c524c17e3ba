#include "tests/soak/process_use.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
// Of sanitizer/allocator_interface.h, which g++ 12 does not bring.
extern "C" std::size_t
__sanitizer_get_current_allocated_bytes();  // NOLINT(bugprone-reserved-identifier)
#endif

namespace reprise::soak {
namespace {

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

Handles handles() { return {entries("/proc/self/fd"), entries("/proc/self/task")}; }

std::uint64_t used_bytes() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#else
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    if (word == "Rss:") {
      std::uint64_t kib = 0;
      rollup >> kib;
      return kib * 1024;
    }
  }
  return 0;
#endif
}

double slope(std::span<const Sample> samples) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      slopes.push_back((samples[j].bytes - samples[i].bytes) /
                       (samples[j].replays - samples[i].replays));
    }
  }
  if (slopes.empty()) {
    return 0;
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::ranges::nth_element(slopes, middle);
  return *middle;
}

}  // namespace reprise::soak
