// The file of a writer: created or checked, locked against a second writer, and taken away again
// if opening fails. The lock is flock() on SQLite's own write-ahead log: SQLite takes no locks on
// that file, the kernel drops it when the process dies, and no extra file is needed. (A lock on the
// database itself would break SQLite's: closing any descriptor of a file drops a process's fcntl
// locks on it.)
#pragma once
#include <memory>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Device and number of a file of this machine; zeros: there is none.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

class ProfileFile {
 public:
  /// A relative path is of the folder that the process is in now.
  /// Throws io with the path and the reason.
  explicit ProfileFile(const std::filesystem::path& path);
  ~ProfileFile();
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  Database& database() { return *database_; }
  /// Without this a file that did not exist before is removed.
  void keep() { remove_ = false; }

 private:
  void open();
  void lock();
  void close() noexcept;
  bool replaced() const noexcept;
  /// No other writer has the file, which would hold a lock on the log.
  bool alone() noexcept;
  std::filesystem::path path_;
  std::string log_;  // SQLite's write-ahead log
  bool remove_ = false;
  int lock_ = -1;
  FileId opened_;
  std::unique_ptr<Database> database_;
};

/// Throws io unless this is a profiling database of a version this build knows.
void require_profile(Database& database);

}  // namespace reprise::profile
