// Opens a profiling database to read one moment of it. The file may be written at the same time, be
// damaged, or be hostile.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stop_token>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Calls `read` inside a read transaction, a second time if a writer came in between; nothing stays
/// open. Throws io if the file cannot be read, is not a profiling database, is damaged, has a newer
/// schema, or one of `tables` is none: a hostile file may have views that never end in their place,
/// or columns that it computes. Statements that meet a text or blob above 16 MiB fail.
/// Throws Cancelled once `stop` asks, also in the middle of a statement.
void read_snapshot(const std::filesystem::path& path, std::span<const char* const> tables,
                   const std::function<void(Database&)>& read, const std::stop_token& stop = {});
/// As above. Returns what the last call of `read` returned.
template <class Read, class Result = std::invoke_result_t<Read, Database&>>
requires(!std::is_void_v<Result>) Result
    read_snapshot(const std::filesystem::path& path, std::span<const char* const> tables,
                  const Read& read, const std::stop_token& stop = {}) {
  Result result;
  const std::function<void(Database&)> keep = [&](Database& database) { result = read(database); };
  read_snapshot(path, tables, keep, stop);
  return result;
}

/// Throws io if one of these is no table of the file, or computes columns.
void require_tables(Database& database, std::span<const char* const> tables);
/// All tables and columns of the current schema. Errors call the file `name`.
/// Errors: io.
void require_schema(Database& database, const std::string& name);

/// Returns where SQLite keeps the write-ahead log of a file: beside the file, not beside a link to
/// it.
std::filesystem::path log_of(const std::filesystem::path& path);
/// Of the file and its write-ahead log.
std::uint64_t bytes_with_log(const std::filesystem::path& path);

/// Sets a value from a column by its type; a number out of range becomes the nearest. Returns false
/// for such a number and for one that is not whole.
template <class T>
bool read_column(const Statement& row, int column, T& to) {
  if constexpr (std::same_as<T, std::string>) {
    to = row.text(column);
  } else if constexpr (std::same_as<T, bool>) {
    to = row.integer(column) != 0;
  } else if constexpr (std::same_as<T, double>) {
    to = row.real(column);
  } else if constexpr (std::same_as<T, std::int64_t>) {
    to = row.integer(column);
  } else {
    using Largest = std::conditional_t<sizeof(T) == 8, std::int64_t, T>;
    constexpr std::int64_t kMax = std::numeric_limits<Largest>::max();
    const std::int64_t value = row.integer(column);
    to = static_cast<T>(std::clamp<std::int64_t>(value, 0, kMax));
    const Statement::Type type = row.type(column);
    return type == Statement::Type::null ||
           (type == Statement::Type::integer && value >= 0 && value <= kMax);
  }
  return true;
}
/// NULL, and reals that are not finite, are none.
template <class T>
bool read_column(const Statement& row, int column, std::optional<T>& to) {
  if (row.null(column) || (std::floating_point<T> && !std::isfinite(row.real(column)))) {
    to.reset();
    return true;
  }
  return read_column(row, column, to.emplace());
}
/// Sets values, the first from column `first`. Returns for how many read_column() was false.
template <class... Values>
unsigned read_columns(const Statement& row, int first, Values&... values) {
  unsigned odd = 0;
  ((odd += read_column(row, first++, values) ? 0U : 1U), ...);
  return odd;
}

/// Returns the rows of a query with these parameters; `read` sets one from its columns.
template <class Row, class Read, class... Values>
std::vector<Row> read_rows(Database& database, std::string_view sql, const Read& read,
                           const Values&... parameters) {
  std::vector<Row> rows;
  Statement query(database, sql);
  query.bind_all(parameters...);
  while (query.step()) {
    read(query, rows.emplace_back());
  }
  return rows;
}

}  // namespace reprise::profile
