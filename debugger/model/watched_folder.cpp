#include "debugger/model/watched_folder.h"

#include <algorithm>
#include <utility>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr std::size_t kMaxFiles = 1000;

}  // namespace

WatchedFolder::WatchedFolder(std::filesystem::path folder) : path_(std::move(folder)) {
  if (!list()) {
    throw_invalid_argument(
        "The path (", path_.string(),
        ") is not a folder that can be read; give a folder in which profiling databases "
        "(*.db) appear.");
  }
  new_.reset();
}

bool WatchedFolder::poll(Clock::time_point now) {
  if (now - looked_ < kBetweenLooks) {
    return false;
  }
  looked_ = now;
  const std::vector<std::filesystem::path> before = files_;
  (void)list();  // what was found stays in sight
  return files_ != before;
}

std::optional<std::filesystem::path> WatchedFolder::take_new() {
  return std::exchange(new_, std::nullopt);
}

bool WatchedFolder::list() {
  struct Found {
    std::filesystem::file_time_type written;
    std::filesystem::path path;
  };
  std::vector<Found> found;
  std::error_code failed, gone;
  std::filesystem::directory_iterator at(path_, failed);
  for (; !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) {
    if (at->path().extension() == ".db" && at->is_regular_file(gone) && found.size() < kMaxFiles) {
      found.push_back({at->last_write_time(gone), at->path()});
    }
  }
  if (failed) {
    return false;
  }
  std::ranges::sort(found, [](const Found& a, const Found& b) {
    return std::pair(b.written, b.path) < std::pair(a.written, a.path);
  });
  files_.clear();
  std::optional<std::filesystem::path> newest;
  for (const Found& file : found) {
    files_.push_back(file.path);
    if (known_.insert(file.path).second && !newest) {
      newest = file.path;
    }
  }
  new_ = newest ? newest : new_;
  return true;
}

}  // namespace reprise::debugger
