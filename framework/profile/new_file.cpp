#include "framework/profile/new_file.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "framework/profile/profile_snapshot.h"
#include "framework/profile/table_names.h"

namespace reprise::profile {
namespace {

std::atomic<unsigned> parts = 0;  // of this process; each has a name of its own

}  // namespace

NewFile::NewFile(std::filesystem::path out) : out_(std::move(out)) {
  require_absent();
  part_ = out_.string() + "." + std::to_string(getpid()) + "-" + std::to_string(++parts) + ".part";
  const int file = open(part_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) {
    throw Error(ErrorCode::io, "The file (" + out_.string() + ") cannot be written: " +
                                   std::generic_category().message(errno) + ".");
  }
  close(file);
}

NewFile::~NewFile() {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(part_.string() + suffix, ignored);
  }
}

void NewFile::require_absent() const {
  if (std::filesystem::exists(std::filesystem::symlink_status(out_))) {
    invalid("The file (" + out_.string() + ") exists already; it is not overwritten.");
  }
}

void NewFile::publish() {
  require_absent();
  std::error_code error;
  std::filesystem::rename(part_, out_, error);
  if (error) {
    throw Error(ErrorCode::io,
                "The file (" + out_.string() + ") cannot be written: " + error.message() + ".");
  }
}

void require_not_written(const std::filesystem::path& path) {
  std::error_code error;
  const std::string log = std::filesystem::canonical(path, error).string() + "-wal";
  const int file = error ? -1 : open(log.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;  // without a log there is no writer
  }
  const bool busy = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  if (busy) {
    throw Error(ErrorCode::io, "The profiling database (" + path.string() +
                                   ") is being written by a live process; it is left alone.");
  }
}

void copy_profile(const std::filesystem::path& path, const std::filesystem::path& to,
                  const std::stop_token& stop) {
  require_not_written(path);
  read_snapshot(
      path, kAllTables,
      [&](Database& database) {
        std::error_code absent;
        std::filesystem::remove(to, absent);  // of a first reading that a writer came into
        database.execute("COMMIT; PRAGMA query_only=0");
        Statement(database, "VACUUM INTO ?").run(std::string_view(to.string()));
        database.execute("BEGIN");
      },
      stop);
}

}  // namespace reprise::profile
