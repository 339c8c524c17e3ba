#include "framework/profile/profile_snapshot.h"

#include <algorithm>

#include "framework/profile/profile_file.h"
#include "reprise/sql_query.h"

namespace reprise::profile {
namespace {

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::io,
              "The profiling database (" + path.string() + ") is damaged: " + why + ".");
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

void require_tables(Database& database, std::span<const char* const> tables) {
  Statement find(database,
                 "SELECT 1 FROM sqlite_schema WHERE name=? AND type='table' AND rootpage>0");
  for (const char* name : tables) {
    if (!find.find(name)) {
      damaged(database.path(), "the table (" + std::string(name) + ") is missing");
    }
  }
}

void read_once(const std::filesystem::path& path, Database::Mode mode,
               std::span<const char* const> tables, const std::function<void(Database&)>& read,
               const std::stop_token& stop) {
  Database database(path, mode);
  if (stop.stop_possible()) {
    database.stop_when([&stop] { return stop.stop_requested(); });
  }
  database.execute("BEGIN");  // one moment of a file that is being written
  require_profile(database);
  if (mode == Database::Mode::immutable) {
    require_whole_pages(database);
  }
  require_tables(database, tables);
  read(database);
  database.execute("COMMIT");
}

}  // namespace

std::uint64_t count(const Statement& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

std::optional<std::uint64_t> optional_count(const Statement& row, int column) {
  return row.null(column) ? std::nullopt : std::optional(count(row, column));
}

bool is_odd(const Statement& row, int column, std::int64_t max) {
  const Statement::Type type = row.type(column);
  return type != Statement::Type::null &&
         (type != Statement::Type::integer || row.integer(column) < 0 || row.integer(column) > max);
}

void read_snapshot(const std::filesystem::path& path, std::span<const char* const> tables,
                   const std::function<void(Database&)>& read, const std::stop_token& stop) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::io, "The profiling database (" + path.string() + ") cannot be read: " +
                                   (std::filesystem::exists(status) ? "it is not a file."
                                                                    : "there is no such file."));
  }
  if (std::filesystem::file_size(path, error) == 0) {
    throw Error(ErrorCode::io,
                "The file (" + path.string() + ") is not a profiling database: it is empty.");
  }
  // Without a log nobody writes the file, and reading it as it is leaves no files beside it.
  const auto written = [log = path.string() + "-wal"] {
    std::error_code ignored;
    return std::filesystem::exists(log, ignored);
  };
  try {
    if (!written()) {
      try {
        read_once(path, Database::Mode::immutable, tables, read, stop);
        return;
      } catch (const Error&) {
        if (!written()) {
          throw;
        }  // a writer came in between: read again with locks
      }
    }
    read_once(path, Database::Mode::read, tables, read, stop);
  } catch (const SqliteError& e) {
    if (e.interrupted() && stop.stop_requested()) {
      throw Cancelled();
    }
    if (e.not_a_database()) {
      throw Error(ErrorCode::io, "The file (" + path.string() +
                                     ") is not a profiling database, nor any SQLite one.");
    }
    throw;
  }
}

}  // namespace reprise::profile
