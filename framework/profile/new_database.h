// A profiling database that is being made: it has a name of its own until it is whole.
#pragma once
#include <filesystem>
#include <stop_token>

#include "framework/core/new_file.h"
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Removed, with what SQLite keeps beside it, unless publish() is called. Connections to it end
/// first.
class NewDatabase {
 public:
  /// An empty file. Errors as NewFile's; `out` is never replaced.
  explicit NewDatabase(const std::filesystem::path& out) : file_(out, NewFile::Existing::refuse) {}
  const std::filesystem::path& path() const { return file_.path(); }
  /// Gives the file its name; no connection to it is open.
  void publish() { file_.publish(); }

 private:
  NewFile file_;
};

/// Throws io if a live process writes the file. One that begins to in this moment is not seen.
void require_not_written(const std::filesystem::path& path);

/// One moment of a profiling database that nobody writes, as a file without free pages or a log.
/// `to` is empty. Throws as read_snapshot() and require_not_written().
void copy_profile(const std::filesystem::path& path, const std::filesystem::path& to,
                  const std::stop_token& stop);

}  // namespace reprise::profile
