#include "framework/profile/new_database.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "framework/core/new_file.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/schema.h"
#include "framework/profile/table_list.h"
#include "reprise/sql_query.h"

namespace reprise::profile {

void make_database(const std::filesystem::path& out, const std::stop_token& stop,
                   const std::function<void(Database&)>& fill) {
  NewFile file(out, NewFile::Existing::refuse);
  {
    Database database(file.path(), Database::Mode::write);
    database.execute(kSchemaSql);
    database.stop_at(stop);
    fill(database);
    // Closing does this too, but nobody hears of its errors, and publish() leaves the log behind.
    if (!database.checkpoint()) {
      throw_error(ErrorCode::io, "The profiling database (", out.string(),
                  ") cannot be written: some of it had to stay in its log, as another program has "
                  "it open.");
    }
  }
  if (stop.stop_requested()) {
    throw Cancelled();
  }
  file.publish();
}

void require_not_written(const std::filesystem::path& path) {
  const int file = open(log_of(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return;  // without a log there is no writer
  }
  const bool busy = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  if (busy) {
    throw_error(ErrorCode::io, "The profiling database (", path.string(),
                ") is being written by a live process; it is left alone.");
  }
}

void copy_profile(const std::filesystem::path& path, const std::filesystem::path& to,
                  const std::stop_token& stop) {
  require_not_written(path);
  read_snapshot(
      path, kAllTables,
      [&](Database& database) {
        std::filesystem::resize_file(to, 0);  // after a first reading that a writer came into
        database.execute("COMMIT; PRAGMA query_only=0");
        Statement(database, "VACUUM INTO ?").run(std::string_view(to.string()));
      },
      stop);
}

}  // namespace reprise::profile
