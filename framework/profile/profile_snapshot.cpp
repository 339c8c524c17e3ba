#include "framework/profile/profile_snapshot.h"

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_file.h"
#include "framework/profile/schema.h"

namespace reprise::profile {
namespace {

// Of one text or blob. Writers stay far below it: step times have 8 bytes per step and fit the
// ring, contents of tensors have up to 64 KiB. Views and columns of a hostile file may compute
// more.
constexpr int kMaxValueBytes = 16 << 20;

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& why) {
  throw_error(ErrorCode::io, "The profiling database (", path.string(), ") is damaged: ", why, ".");
}

/// SQLite reads a last page that is cut short as if it ended in zeros.
void require_whole_pages(Database& database) {
  const std::int64_t page = database.integer("PRAGMA page_size");
  const std::int64_t pages = database.integer("PRAGMA page_count");
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(database.path(), error);
  if (error || size / static_cast<std::uint64_t>(page) < static_cast<std::uint64_t>(pages)) {
    damaged(database.path(), "it has (" + std::to_string(size) + ") bytes, fewer than its " +
                                 std::to_string(pages) + " pages of " + std::to_string(page));
  }
}

void read_once(Database& database, Database::Mode mode, std::span<const char* const> tables,
               const std::function<void(Database&)>& read, const std::stop_token& stop) {
  database.limit_values(kMaxValueBytes);
  database.stop_at(stop);
  database.execute("BEGIN");  // one moment of a file that is being written, until it is closed
  require_profile(database);
  if (mode == Database::Mode::immutable) {
    require_whole_pages(database);
  }
  require_tables(database, tables);
  read(database);
}

}  // namespace

void require_tables(Database& database, std::span<const char* const> tables) {
  Statement find(database,
                 "SELECT 1 FROM sqlite_schema WHERE name=? AND type='table' AND rootpage>0");
  Statement computed(database, "SELECT 1 FROM pragma_table_xinfo(?, 'main') WHERE hidden>1");
  for (const char* name : tables) {
    if (!find.find(name)) {
      damaged(database.path(), "the table (" + std::string(name) + ") is missing");
    }
    if (computed.find(name)) {
      damaged(database.path(), "the table (" + std::string(name) + ") computes columns");
    }
  }
}

void require_schema(Database& database, const std::string& name) try {
  Database schema(":memory:", Database::Mode::write);
  schema.execute(kSchemaSql);
  Statement columns(schema,
                    "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE "
                    "m.type='table'");
  Statement find(database,
                 "SELECT 1 FROM main.sqlite_schema m, pragma_table_info(m.name, 'main') c WHERE "
                 "m.name=? AND m.type='table' AND m.rootpage>0 AND c.name=?");
  while (columns.step()) {
    if (!find.find(columns.text(0), columns.text(1))) {
      throw_error(ErrorCode::io, "The column (", columns.text(1), ") of the table (",
                  columns.text(0), ") is missing.");
    }
  }
} catch (const Error& error) {
  throw Error(error, "(in the profiling database " + name + ")", {});
}

std::filesystem::path log_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return (error ? path : file).string() + "-wal";
}

std::uint64_t bytes_with_log(const std::filesystem::path& path) {
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : {path, log_of(path)}) {
    std::error_code absent;
    const std::uintmax_t size = std::filesystem::file_size(file, absent);
    bytes += absent ? 0 : size;
  }
  return bytes;
}

void read_snapshot(const std::filesystem::path& path, std::span<const char* const> tables,
                   const std::function<void(Database&)>& read, const std::stop_token& stop) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw_error(ErrorCode::io, "The profiling database (", path.string(), ") cannot be read: ",
                (std::filesystem::exists(status) ? "it is not a file." : "there is no such file."));
  }
  if (std::filesystem::file_size(path, error) == 0) {
    throw_error(ErrorCode::io, "The file (", path.string(),
                ") is not a profiling database: it is empty.");
  }
  // Without a log nobody writes the file, and reading it as it is leaves no files beside it.
  const auto written = [log = log_of(path)] {
    std::error_code ignored;
    return std::filesystem::exists(log, ignored);
  };
  const ProfileWatch::Stamp before = ProfileWatch::stamp_of(path);
  if (!written()) {
    ProfileWatch::Stamp opened;
    // What was read is of two moments if a writer came in between, whose log may be gone already. A
    // file that was removed or replaced once it was open stayed as it was; one that was replaced
    // before may have a log.
    const auto undisturbed = [&] {
      const ProfileWatch::Stamp now = ProfileWatch::stamp_of(path);
      return opened == before && (now.file != before.file || (now == before && !written()));
    };
    try {
      Database database(path, Database::Mode::immutable);
      opened = ProfileWatch::stamp_of(path);
      read_once(database, Database::Mode::immutable, tables, read, stop);
      if (undisturbed()) {
        return;
      }
    } catch (const Error&) {
      if (undisturbed()) {
        throw;
      }
    }
  }
  Database database(path, Database::Mode::read);
  read_once(database, Database::Mode::read, tables, read, stop);
}

}  // namespace reprise::profile
