// A profiling database of the bench's own.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>

namespace reprise::bench {

/// A profiling database in a folder of its own; both are gone afterwards.
struct TemporaryProfile {
  TemporaryProfile() { std::filesystem::create_directory(folder); }
  TemporaryProfile(const TemporaryProfile&) = delete;
  TemporaryProfile& operator=(const TemporaryProfile&) = delete;
  ~TemporaryProfile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("reprise-bench-" +
       std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::filesystem::path path = folder / "profile.db";
};

}  // namespace reprise::bench
