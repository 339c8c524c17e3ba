#include "framework/profile/profile_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "framework/profile/migrations.h"
#include "framework/profile/schema.h"

namespace reprise::profile {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::io, message); }

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

FileId id_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? id_of(status) : FileId();
}

/// The path from the root: a program may change its folder while it writes.
std::filesystem::path from_root(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path full = std::filesystem::absolute(path, error);
  return error ? path : full;
}

/// Nothing was written into it yet, or a process died while creating it.
bool blank(Database& database) {
  return database.integer("PRAGMA application_id") == 0 &&
         database.integer("PRAGMA user_version") == 0 &&
         database.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

}  // namespace

void require_profile(Database& database) {
  const std::int64_t id = database.integer("PRAGMA application_id");
  if (id != kApplicationId) {
    fail("The file (" + database.path() + ") is not a profiling database: its application id is (" +
         std::to_string(id) + "), expected " + std::to_string(kApplicationId) + ".");
  }
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version < 1 || version > kSchemaVersion) {
    fail("The profiling database (" + database.path() + ") has schema version (" +
         std::to_string(version) + "); this build knows versions 1 to " +
         std::to_string(kSchemaVersion) + ".");
  }
}

ProfileFile::ProfileFile(const std::filesystem::path& path) : path_(from_root(path)) {
  std::error_code ignored;  // a path that cannot be looked at cannot be opened either
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail("The profiling database (" + path_.string() + ") cannot be opened: it is " +
         (std::filesystem::is_directory(status) ? "a directory." : "not a regular file."));
  }
  // mknod creates a file without a descriptor: closing one could drop the locks of another thread.
  constexpr mode_t kMode = S_IFREG | 0666;
  if (mknod(path_.c_str(), kMode, 0) == 0) {
    remove_ = true;
    opened_ = id_of(path_.string());
  } else if (errno != EEXIST) {
    fail("The profiling database (" + path_.string() +
         ") cannot be created: " + std::generic_category().message(errno) + ".");
  }
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

ProfileFile::~ProfileFile() { close(); }

bool ProfileFile::replaced() const noexcept {
  struct stat log {};
  return lock_ >= 0 && id_of(path_.string()) != opened_ && fstat(lock_, &log) == 0 &&
         id_of(log_) == id_of(log);
}

bool ProfileFile::alone() noexcept {
  if (lock_ < 0) {  // opening failed before
    lock_ = ::open((path_.string() + "-wal").c_str(), O_RDWR | O_CLOEXEC);
  }
  return lock_ < 0 ? errno == ENOENT : flock(lock_, LOCK_EX | LOCK_NB) == 0;
}

void ProfileFile::close() noexcept {
  database_.reset();
  if (replaced()) {
    // SQLite leaves the log there, and would take it for the log of whatever has the name now.
    std::error_code ignored;
    std::filesystem::remove(log_, ignored);
    std::filesystem::remove(log_.substr(0, log_.size() - 4) + "-shm", ignored);
  }
  if (remove_ && id_of(path_.string()) == opened_ && alone()) {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path_.string() + suffix, ignored);
    }
  }
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

void ProfileFile::open() {
  database_ = std::make_unique<Database>(path_, Database::Mode::write);
  opened_ = id_of(path_.string());
  if (!blank(*database_)) {
    require_profile(*database_);
  }
  // Page size, vacuum mode and journal cannot change inside a transaction.
  const std::size_t split = kSchemaSql.find("PRAGMA application_id");
  database_->execute(kSchemaSql.substr(0, split));
  database_->execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;");
  database_->integer("SELECT count(*) FROM sqlite_schema");  // SQLite opens the log when it reads
  lock();
  Transaction transaction(*database_);
  if (blank(*database_)) {
    database_->execute(kSchemaSql.substr(split));
  }
  require_profile(*database_);  // again: another process may have been faster
  migrate(*database_);
  transaction.commit();
}

void ProfileFile::lock() {
  log_ = database_->wal_path();
  lock_ = ::open(log_.c_str(), O_RDWR | O_CLOEXEC);
  if (lock_ < 0) {
    fail("The profiling database (" + path_.string() + ") cannot use a write-ahead log (" + log_ +
         "): " + std::generic_category().message(errno) + ".");
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const bool busy = errno == EWOULDBLOCK;
    remove_ = remove_ && !busy;  // it belongs to the other writer
    fail("The profiling database (" + path_.string() + ") " +
         (busy ? "is being written by another writer, and only one can at a time."
               : "cannot be locked: " + std::generic_category().message(errno) + "."));
  }
  if (id_of(path_.string()) != opened_) {
    fail("The profiling database (" + path_.string() +
         ") was removed by another program while it was opened; open it again.");
  }
}

}  // namespace reprise::profile
