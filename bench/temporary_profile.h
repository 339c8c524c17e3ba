// A profiling database of the bench's own.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>

namespace reprise::bench {

/// A profiling database that is gone afterwards.
struct TemporaryProfile {
  TemporaryProfile() = default;
  TemporaryProfile(const TemporaryProfile&) = delete;
  TemporaryProfile& operator=(const TemporaryProfile&) = delete;
  ~TemporaryProfile() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(path.string() + suffix, ignored);
    }
  }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("reprise-bench-" +
       std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + ".db");
};

}  // namespace reprise::bench
