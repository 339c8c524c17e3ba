#include "bench/bare_sqlite.h"

#include <ctime>
#include <map>
#include <stdexcept>
#include <variant>

#include <sqlite3.h>

namespace reprise::bench {
namespace {

using Value = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<char>>;
using Row = std::vector<Value>;

[[noreturn]] void fail(sqlite3* database) {
  throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(database));
}

class Prepared {
 public:
  Prepared(sqlite3* database, const std::string& sql) : database_(database) {
    if (sqlite3_prepare_v3(database, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &handle_,
                           nullptr) != SQLITE_OK) {
      fail(database);
    }
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() { sqlite3_finalize(handle_); }

  /// The next row; empty after the last.
  Row next() {
    Row row;
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      fail(database_);
    }
    for (int c = 0; code == SQLITE_ROW && c < sqlite3_column_count(handle_); ++c) {
      const char* text = static_cast<const char*>(sqlite3_column_blob(handle_, c));
      const int bytes = sqlite3_column_bytes(handle_, c);
      switch (sqlite3_column_type(handle_, c)) {
        case SQLITE_INTEGER:
          row.emplace_back(sqlite3_column_int64(handle_, c));
          break;
        case SQLITE_FLOAT:
          row.emplace_back(sqlite3_column_double(handle_, c));
          break;
        case SQLITE_TEXT:
          row.emplace_back(std::string(text, static_cast<std::size_t>(bytes)));
          break;
        case SQLITE_BLOB:
          row.emplace_back(std::vector<char>(text, text + bytes));
          break;
        default:
          row.emplace_back();
      }
    }
    return row;
  }

  void insert(const Row& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const int at = static_cast<int>(c) + 1;
      if (const auto* whole = std::get_if<std::int64_t>(&row[c])) {
        sqlite3_bind_int64(handle_, at, *whole);
      } else if (const auto* real = std::get_if<double>(&row[c])) {
        sqlite3_bind_double(handle_, at, *real);
      } else if (const auto* text = std::get_if<std::string>(&row[c])) {
        sqlite3_bind_text(handle_, at, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
      } else if (const auto* blob = std::get_if<std::vector<char>>(&row[c])) {
        sqlite3_bind_blob(handle_, at, blob->data(), static_cast<int>(blob->size()), SQLITE_STATIC);
      } else {
        sqlite3_bind_null(handle_, at);
      }
    }
    if (sqlite3_step(handle_) != SQLITE_DONE) {
      fail(database_);
    }
    sqlite3_reset(handle_);
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* handle_ = nullptr;
};

std::vector<Row> rows_of(sqlite3* database, const std::string& sql) {
  Prepared query(database, sql);
  std::vector<Row> rows;
  for (Row row = query.next(); !row.empty(); row = query.next()) {
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string insert_of(const std::string& table, std::size_t columns) {
  std::string sql = "INSERT INTO " + table + " VALUES(?";
  for (std::size_t c = 1; c < columns; ++c) {
    sql += ",?";
  }
  return sql + ")";
}

std::int64_t thread_cpu_ns() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return std::int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec;
}

}  // namespace

void BareSqlite::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

BareSqlite::BareSqlite(const std::filesystem::path& path) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) {
    fail(database);
  }
  execute("PRAGMA synchronous=NORMAL");
}

void BareSqlite::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(database_.get());
  }
}

std::int64_t BareSqlite::integer(const std::string& sql) {
  const Row row = Prepared(database_.get(), sql).next();
  const auto* value = row.empty() ? nullptr : std::get_if<std::int64_t>(row.data());
  return value == nullptr ? 0 : *value;
}

bool BareSqlite::read(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    fail(database_.get());
  }
  return code == SQLITE_OK;
}

std::int64_t BareSqlite::insert_rows_into(BareSqlite& to, std::size_t replays_per_batch) {
  const std::vector<Row> replays = rows_of(database_.get(), "SELECT * FROM replays ORDER BY id");
  const std::vector<Row> stats = rows_of(database_.get(), "SELECT * FROM node_stats");
  std::map<std::int64_t, Row> timings;
  for (Row& row : rows_of(database_.get(), "SELECT * FROM step_timings")) {
    timings.emplace(std::get<std::int64_t>(row[0]), std::move(row));
  }
  const std::int64_t begin = thread_cpu_ns();
  {
    Prepared add_replay(to.database_.get(), insert_of("replays", replays.at(0).size()));
    Prepared add_times(to.database_.get(), insert_of("step_timings", 4));
    for (std::size_t first = 0; first < replays.size(); first += replays_per_batch) {
      to.execute("BEGIN IMMEDIATE");
      for (std::size_t r = first; r < std::min(first + replays_per_batch, replays.size()); ++r) {
        add_replay.insert(replays[r]);
        const auto times = timings.find(std::get<std::int64_t>(replays[r][0]));
        if (times != timings.end()) {
          add_times.insert(times->second);
        }
      }
      to.execute("COMMIT");
    }
    if (!stats.empty()) {
      Prepared add_stats(to.database_.get(), insert_of("node_stats", stats[0].size()));
      to.execute("BEGIN IMMEDIATE");
      for (const Row& row : stats) {
        add_stats.insert(row);
      }
      to.execute("COMMIT");
    }
  }
  return thread_cpu_ns() - begin;
}

}  // namespace reprise::bench
