// The profiling databases of a folder, and those that appear in it. One thread.
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

namespace reprise::debugger {

class WatchedFolder {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws invalid_argument if there is no such folder, or it cannot be read.
  explicit WatchedFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return path_; }
  /// Looks at the folder, at most once a second; true if files() changed.
  bool poll(Clock::time_point now);
  /// Files that end in .db, the newest first.
  const std::vector<std::filesystem::path>& files() const { return files_; }
  /// The newest of the files that appeared since the last call.
  std::optional<std::filesystem::path> take_new();

 private:
  /// False if it cannot be read.
  bool list();

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::set<std::filesystem::path> known_;
  std::optional<std::filesystem::path> new_;
  Clock::time_point looked_{};
};

}  // namespace reprise::debugger
