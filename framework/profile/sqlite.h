// SQLite with ownership and exceptions: a connection, a statement, a transaction. No statement
// stays open between calls that finish it, so a reader never holds back a checkpoint.
// Not thread-safe: one thread at a time per connection and its statements.
#pragma once
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reprise/core/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace reprise::profile {

using Blob = std::vector<std::byte>;
using Value = std::variant<std::monostate, std::int64_t, std::string, Blob>;

/// An Error of code io that keeps SQLite's primary code.
class SqliteError : public Error {
 public:
  /// `reason` is SQLite's own sentence, if it has one.
  SqliteError(const std::string& message, int sqlite_code, std::string reason = {})
      : Error(ErrorCode::io, message), primary_(sqlite_code & 0xFF), reason_(std::move(reason)) {}
  /// The values of one row were refused; the file and the transaction are as before.
  bool refuses_values() const;
  /// It took longer than Database::stop_at() allows.
  bool interrupted() const;
  bool out_of_memory() const;
  /// What was asked is wrong or not allowed; the file is not to blame.
  bool blames_the_query() const;
  bool not_authorised() const;
  const std::string& reason() const { return reason_; }

 private:
  int primary_;
  std::string reason_;
};

/// The most memory that SQLite takes in this process, all connections together: it has no limit of
/// a single one. A lower limit stays.
void limit_memory(std::int64_t bytes);

class Database {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Mode : std::uint8_t {
    write,     // the file must exist; an empty one is a new database
    read,      // changes no row; the last to close moves the log of a dead writer into the file
    immutable  // nobody writes the file: no locks, no files beside it
  };
  /// Triggers of the file are off and its schema is not trusted: the file may be hostile.
  Database(const std::filesystem::path& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs every statement of `sql`.
  void execute(std::string_view sql);
  /// The first column of the first row; 0 if there is no row or it is NULL.
  template <class... Values>
  std::int64_t integer(std::string_view sql, const Values&... parameters);
  std::int64_t last_insert_id() const;
  bool in_transaction() const;
  const std::string& path() const { return path_; }
  /// Where the write-ahead log of this file is, links resolved.
  std::string wal_path() const;
  /// What this connection's last commit left in the write-ahead log.
  std::uint64_t log_bytes();
  /// Moves the log into the file as far as no reader needs it, without waiting for anybody. A
  /// connection that writes does so only here. False if some of the log had to stay.
  bool checkpoint();

  /// Statements throw Cancelled once `stop` asks, and an error that is interrupted() after `end`.
  void stop_at(std::stop_token stop, Clock::time_point end = Clock::time_point::max());
  /// From here on statements can only read: rows, functions, and PRAGMAs that describe tables.
  /// Nothing can be attached or loaded.
  void only_reads();
  /// From here on statements can use percentile(), median() and stddev().
  void add_statistics();
  /// The most bytes of one text or blob; a statement that meets a longer one fails.
  void limit_values(int bytes);

 private:
  friend class Statement;
  [[noreturn]] void fail(std::string_view doing) const;
  sqlite3* handle_ = nullptr;
  std::string path_;
  std::uint64_t log_pages_ = 0;
  std::stop_token stop_;
  Clock::time_point end_{};
};

/// Prepared once, run any number of times. Bound text and blobs must outlive the run.
class Statement {
 public:
  /// `rest` becomes what follows the first statement of `sql`. Of no statement but comments,
  /// empty() is true, and it cannot be run.
  Statement(Database& database, std::string_view sql, std::string_view* rest = nullptr);
  Statement(Statement&& other) noexcept
      : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  /// Binds all parameters and runs to the end.
  template <class... Values>
  void run(const Values&... values) {
    bind_all(values...);
    finish();
  }
  /// The first column of the first row; empty if there is no row or it is NULL.
  template <class... Values>
  std::optional<std::int64_t> find(const Values&... values) {
    bind_all(values...);
    return find_bound();
  }
  template <class... Values>
  void bind_all(const Values&... values) {
    [[maybe_unused]] int index = 0;
    (bind(++index, values), ...);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void bind(int index, T value) {
    bind_integer(index, std::in_range<std::int64_t>(value)
                            ? static_cast<std::int64_t>(value)
                            : std::numeric_limits<std::int64_t>::max());
  }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, nullptr);
    }
  }
  void bind(int index, std::nullptr_t);
  template <std::same_as<bool> T>  // a plain bool parameter would also take every pointer
  void bind(int index, T value) {
    bind_integer(index, value ? 1 : 0);
  }
  void bind(int index, double value);
  void bind(int index, std::string_view text);
  void bind(int index, std::span<const std::byte> blob);
  void bind(int index, std::monostate) { bind(index, nullptr); }
  void bind_value(int index, const Value& value) {
    std::visit([&](const auto& v) { bind(index, v); }, value);
  }
  /// Runs what is bound to the end.
  void finish();

  /// For queries: false after the last row, and then the statement is closed.
  bool step();
  /// Numbered as SQLite does.
  enum class Type : std::uint8_t { integer = 1, real, text, blob, null };
  Type type(int column) const;
  bool null(int column) const { return type(column) == Type::null; }
  std::int64_t integer(int column) const;
  double real(int column) const;
  /// Of a longer text, that many bytes.
  std::string text(int column,
                   std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) const;
  /// Valid until the next step().
  std::span<const std::byte> blob(int column) const;

  bool empty() const { return handle_ == nullptr; }
  int columns() const;
  std::string column_name(int column) const;

 private:
  void bind_integer(int index, std::int64_t value);
  void check_bind(int code) const;
  std::optional<std::int64_t> find_bound();
  void reset();
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

template <class... Values>
std::int64_t Database::integer(std::string_view sql, const Values&... parameters) {
  return Statement(*this, sql).find(parameters...).value_or(0);
}

/// Returns "INSERT INTO table(a,b) VALUES(?,?)" for "table(a,b)".
std::string insert_into(std::string_view columns, std::string_view verb = "INSERT");

/// Statements by their text, each prepared when it is first run.
class Statements {
 public:
  explicit Statements(Database& database) : database_(database) {}
  Statement& operator()(std::string_view sql) { return find(sql, ""); }
  /// `columns` is as for insert_into(), here and below with a value for each.
  Statement& inserting(std::string_view columns) { return find(columns, "INSERT"); }
  template <class... Values>
  void insert(std::string_view columns, const Values&... values) {
    inserting(columns).run(values...);
  }
  /// Leaves a row that has the same key as it is.
  template <class... Values>
  void insert_new(std::string_view columns, const Values&... values) {
    find(columns, "INSERT OR IGNORE").run(values...);
  }
  template <class... Values>
  void replace(std::string_view columns, const Values&... values) {
    find(columns, "REPLACE").run(values...);
  }

 private:
  Statement& find(std::string_view text, std::string_view verb);
  Database& database_;
  std::map<std::string, Statement, std::less<>> by_text_;
};

/// BEGIN IMMEDIATE; rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
};

/// Runs `f` inside a transaction; false, with what it wrote taken back, if the file refuses the
/// values of a row. Throws other errors: the transaction must not be committed then.
template <class F>
bool accepts(Database& database, F&& f) {
  bool accepted = true;
  database.execute("SAVEPOINT record");
  try {
    f();
  } catch (const SqliteError& error) {
    if (!error.refuses_values()) {
      throw;
    }
    accepted = false;
    database.execute("ROLLBACK TO record");
  }
  database.execute("RELEASE record");
  return accepted;
}

}  // namespace reprise::profile
