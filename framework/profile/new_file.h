// A profiling database that is being made: it has a name of its own until it is whole.
#pragma once
#include <filesystem>
#include <stop_token>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// A file beside `out`, removed unless publish() is called.
class NewFile {
 public:
  /// Throws invalid_argument if `out` exists, io if its folder cannot be written.
  explicit NewFile(std::filesystem::path out);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  const std::filesystem::path& path() const { return part_; }
  /// Gives the file its name; no connection to it is open.
  void publish();

 private:
  void require_absent() const;
  std::filesystem::path out_, part_;
};

/// Throws io if a live process writes the file. One that begins to in this moment is not seen.
void require_not_written(const std::filesystem::path& path);

/// One moment of a profiling database that nobody writes, as a file without free pages or a log.
/// `to` does not exist. Throws as read_snapshot() and require_not_written().
void copy_profile(const std::filesystem::path& path, const std::filesystem::path& to,
                  const std::stop_token& stop);

}  // namespace reprise::profile
