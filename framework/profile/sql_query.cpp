#include "reprise/sql_query.h"

#include "framework/profile/profile_snapshot.h"

namespace reprise {
namespace profile {
namespace {

using Clock = Database::Clock;

constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20U;  // of all values of a result
// What SQLite may take while it computes. Other connections of this process share it; they need a
// few MiB each.
constexpr std::int64_t kMaxMebibytes = 256;

/// From here on statements of `database` only read, and end in time.
void limit(Database& database, std::chrono::milliseconds time, const std::stop_token& stop) {
  // Further ahead than a clock counts: no limit.
  const auto max = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::time_point::max() -
                                                                         Clock::now());
  const auto end = time < max ? Clock::now() + time : Clock::time_point::max();
  limit_memory(kMaxMebibytes << 20);
  database.execute("PRAGMA temp_store=MEMORY");  // no temporary files
  database.only_reads();
  database.stop_at(stop, end);
}

SqlValue value_of(const Statement& row, int column, std::size_t most_bytes) {
  switch (row.type(column)) {
    case Statement::Type::integer:
      return row.integer(column);
    case Statement::Type::real:
      return row.real(column);
    case Statement::Type::text:
      return row.text(column, most_bytes);
    case Statement::Type::blob:
      return BlobSize{row.blob(column).size()};
    case Statement::Type::null:
      break;
  }
  return std::monostate{};
}

void require_nothing_after(Database& database, std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view before = rest;
    if (!Statement(database, before, &rest).empty()) {
      throw_invalid_argument("The query is more than one statement; run them one at a time.");
    }
  }
}

SqlResult run(Database& database, const std::string& sql, const SqlLimits& limits) {
  if (sql.find('\0') != std::string::npos) {
    throw_invalid_argument("The query holds a NUL character, which ends no statement.");
  }
  const auto start = Clock::now();
  std::string_view rest;
  Statement query(database, sql, &rest);
  if (query.empty()) {
    throw_invalid_argument(
        "The query is empty; it is a SELECT, for example SELECT * FROM v_top_nodes.");
  }
  require_nothing_after(database, rest);
  SqlResult result;
  for (int c = 0; c < query.columns(); ++c) {
    result.columns.push_back(query.column_name(c));
  }
  std::size_t bytes = 0;
  while (query.step()) {
    if (result.rows.size() >= limits.rows || bytes > kMaxTextBytes) {
      result.truncated = true;
      break;
    }
    std::vector<SqlValue>& row = result.rows.emplace_back();
    for (int c = 0; c < query.columns(); ++c) {
      row.push_back(value_of(query, c, limits.text_bytes));
      const auto* text = std::get_if<std::string>(&row.back());
      bytes += sizeof(SqlValue) + (text == nullptr ? 0 : text->size());
    }
  }
  result.elapsed = Clock::now() - start;
  return result;
}

[[noreturn]] void explain(const SqliteError& error, const SqlLimits& limits) {
  if (error.interrupted()) {
    throw_error(ErrorCode::timeout, "The query takes longer than (", limits.time.count(), " ms).");
  }
  if (error.out_of_memory()) {
    throw_invalid_argument("The query is refused: it takes more than ", kMaxMebibytes,
                           " MiB of memory.");
  }
  if (error.not_authorised()) {
    throw_invalid_argument(
        "The query does not only read (", error.reason(),
        "); allowed are SELECT and the PRAGMAs that describe tables, such as table_info.");
  }
  throw_invalid_argument("The query is refused: ", error.reason(), ".");
}

}  // namespace
}  // namespace profile

SqlResult run_sql(const std::filesystem::path& path, const std::string& sql,
                  const SqlLimits& limits, const std::stop_token& stop) {
  return profile::read_snapshot(
      path, {},
      [&](profile::Database& database) {
        database.add_statistics();
        profile::limit(database, limits.time, stop);
        try {
          return profile::run(database, sql, limits);
        } catch (const profile::SqliteError& error) {
          if (!error.interrupted() && !error.blames_the_query() && !error.out_of_memory()) {
            throw;
          }
          profile::explain(error, limits);
        }
      },
      stop);
}

}  // namespace reprise
