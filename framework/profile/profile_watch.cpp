#include <chrono>
#include <sys/stat.h>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_snapshot.h"

namespace reprise {
namespace {

// Files change their times with the timer of the kernel, every 10 ms or more often.
constexpr std::int64_t kTimeStepNs = 20'000'000;

}  // namespace

ProfileWatch::ProfileWatch(const std::filesystem::path& path)
    : files_{path, profile::log_of(path)} {}

ProfileWatch::Stamp ProfileWatch::stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return {};
  }
  return {status.st_ino, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

bool ProfileWatch::changed() {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::array<Stamp, 2> found;
  bool recent = false;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    found[f] = stamp_of(files_[f]);
    // Another change within the same step of the clock would look the same.
    recent = recent || (now - found[f].time_ns < kTimeStepNs && found[f].time_ns <= now);
  }
  const bool same = settled_ && found == seen_;
  seen_ = found;
  settled_ = !recent;
  return !same;
}

}  // namespace reprise
