#include "framework/profile/sqlite.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <sqlite3.h>

#include "framework/profile/statistics.h"
#include "reprise/sql_query.h"

namespace reprise::profile {
namespace {

// Of the format of a write-ahead log: https://www.sqlite.org/fileformat.html#walformat
constexpr std::uint64_t kLogHeaderBytes = 32, kFrameHeaderBytes = 24;
constexpr int kBusyTimeoutMs = 5000;  // another client may hold the write lock for a moment

/// "file:///a%3Fb?immutable=1": every byte that could end the path is escaped.
std::string immutable_uri(const std::filesystem::path& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#' || byte < 0x20) {
      uri += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

int authorise_reading(void*, int action, const char* first, const char* second, const char*,
                      const char*) {
  constexpr std::array<std::string_view, 6> kDescribe{
      "table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"};
  // Functions of some builds of SQLite that load code, touch files or tell addresses.
  constexpr std::array<std::string_view, 5> kReachOut{"load_extension", "readfile", "writefile",
                                                      "edit", "fts3_tokenizer"};
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::ranges::find(kReachOut, second) != kReachOut.end()
                 ? SQLITE_DENY
                 : SQLITE_OK;
    case SQLITE_PRAGMA:
      return first != nullptr && std::ranges::find(kDescribe, first) != kDescribe.end()
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

bool SqliteError::refuses_values() const {
  return primary_ == SQLITE_CONSTRAINT || primary_ == SQLITE_TOOBIG || primary_ == SQLITE_MISMATCH;
}

bool SqliteError::interrupted() const { return primary_ == SQLITE_INTERRUPT; }

bool SqliteError::out_of_memory() const { return primary_ == SQLITE_NOMEM; }

bool SqliteError::not_authorised() const { return primary_ == SQLITE_AUTH; }

bool SqliteError::blames_the_query() const {
  return primary_ == SQLITE_ERROR || primary_ == SQLITE_AUTH || primary_ == SQLITE_TOOBIG ||
         primary_ == SQLITE_MISMATCH || primary_ == SQLITE_RANGE || primary_ == SQLITE_READONLY;
}

void limit_memory(std::int64_t bytes) {
  const sqlite3_int64 limit = sqlite3_hard_heap_limit64(-1);
  if (limit == 0 || limit > bytes) {
    sqlite3_hard_heap_limit64(bytes);
  }
}

Database::Database(const std::filesystem::path& path, Mode mode) : path_(path.string()) {
  const bool immutable = mode == Mode::immutable;
  const std::string name = immutable ? immutable_uri(path) : path_;
  // Only a connection that may write takes the log away when it is the last to close.
  const int flags = (immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  try {
    if (sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
      fail("opening it");
    }
    sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_wal_hook(
        handle_,
        [](void* self, sqlite3*, const char*, int pages) {
          static_cast<Database*>(self)->log_pages_ = static_cast<std::uint64_t>(pages);
          return SQLITE_OK;
        },
        this);  // replaces the checkpoints SQLite makes inside commits
    if (mode == Mode::read) {
      execute("PRAGMA query_only=1");
    }
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::execute(std::string_view sql) {
  if (sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail("running \"" + std::string(sql.substr(0, 60)) + "\"");
  }
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

std::string Database::wal_path() const {
  return sqlite3_filename_wal(sqlite3_db_filename(handle_, "main"));
}

std::uint64_t Database::log_bytes() {
  const auto page_bytes = static_cast<std::uint64_t>(integer("PRAGMA page_size"));
  return kLogHeaderBytes + log_pages_ * (kFrameHeaderBytes + page_bytes);
}

bool Database::checkpoint() {
  int pages = 0;
  int moved = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
  if (code != SQLITE_OK && (code & 0xFF) != SQLITE_BUSY && (code & 0xFF) != SQLITE_LOCKED) {
    fail("moving the write-ahead log into the file");
  }
  return code == SQLITE_OK && moved == pages;
}

void Database::stop_at(std::stop_token stop, Clock::time_point end) {
  constexpr int kInstructions = 2000;  // well under a millisecond
  stop_ = std::move(stop);
  end_ = end;
  const auto ask = [](void* self) {
    const auto& database = *static_cast<const Database*>(self);
    return database.stop_.stop_requested() || Clock::now() >= database.end_ ? 1 : 0;
  };
  const bool may_stop = stop_.stop_possible() || end != Clock::time_point::max();
  sqlite3_progress_handler(handle_, may_stop ? kInstructions : 0, ask, this);
}

void Database::only_reads() { sqlite3_set_authorizer(handle_, authorise_reading, nullptr); }

void Database::add_statistics() {
  if (profile::add_statistics(handle_) != SQLITE_OK) {
    fail("adding functions");
  }
}

void Database::limit_values(int bytes) { sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, bytes); }

void Database::fail(std::string_view doing) const {
  if (handle_ == nullptr) {
    throw_error(ErrorCode::out_of_memory, "There is no memory to open the database (", path_, ").");
  }
  const int code = sqlite3_extended_errcode(handle_);
  const int system = sqlite3_system_errno(handle_);
  const int primary = code & 0xFF;
  if (primary == SQLITE_INTERRUPT && stop_.stop_requested()) {
    throw Cancelled();
  }
  const std::string reason = sqlite3_errmsg(handle_);
  if (primary == SQLITE_NOTADB) {
    throw SqliteError("The file (" + path_ + ") is not a profiling database, nor any SQLite one.",
                      code, reason);
  }
  std::string message = "The database (" + path_ + ") failed while " + std::string(doing) + ": " +
                        reason + " (SQLite code " + std::to_string(code) + ")";
  if (system != 0 && (primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR)) {
    message += ", " + std::generic_category().message(system);
  }
  throw SqliteError(message + ".", code, reason);
}

Statement::Statement(Database& database, std::string_view sql, std::string_view* rest)
    : database_(database) {
  const char* end = nullptr;
  if (sqlite3_prepare_v3(database.handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &handle_, &end) != SQLITE_OK) {
    database.fail("preparing \"" + std::string(sql.substr(0, 60)) + "\"");
  }
  if (rest != nullptr) {
    *rest = sql.substr(static_cast<std::size_t>(end - sql.data()));
  }
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::check_bind(int code) const {
  if (code != SQLITE_OK) {
    throw SqliteError("The database (" + database_.path_ +
                          ") does not take a value: " + sqlite3_errstr(code) + ".",
                      code);
  }
}

void Statement::bind(int index, std::nullptr_t) { check_bind(sqlite3_bind_null(handle_, index)); }

void Statement::bind(int index, double value) {
  check_bind(sqlite3_bind_double(handle_, index, value));
}

void Statement::bind(int index, std::string_view text) {
  // A null pointer would store NULL instead of an empty text.
  check_bind(sqlite3_bind_text64(handle_, index, text.data() == nullptr ? "" : text.data(),
                                 text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int index, std::span<const std::byte> blob) {
  check_bind(blob.empty()
                 ? sqlite3_bind_zeroblob(handle_, index, 0)
                 : sqlite3_bind_blob64(handle_, index, blob.data(), blob.size(), SQLITE_STATIC));
}

void Statement::bind_integer(int index, std::int64_t value) {
  check_bind(sqlite3_bind_int64(handle_, index, value));
}

void Statement::finish() {
  while (step()) {
  }
}

std::optional<std::int64_t> Statement::find_bound() {
  std::optional<std::int64_t> found;
  if (step()) {
    if (!null(0)) {
      found = integer(0);
    }
    reset();
  }
  return found;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    try {
      database_.fail("running \"" + std::string(sqlite3_sql(handle_)).substr(0, 60) + "\"");
    } catch (...) {
      reset();
      throw;
    }
  }
  reset();
  return false;
}

void Statement::reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }

std::string Statement::text(int column, std::size_t most_bytes) const {
  const unsigned char* text = sqlite3_column_text(handle_, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return text == nullptr
             ? std::string()
             : std::string(reinterpret_cast<const char*>(text), std::min(bytes, most_bytes));
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : bytes};
}

Statement::Type Statement::type(int column) const {
  static_assert(static_cast<int>(Type::integer) == SQLITE_INTEGER &&
                static_cast<int>(Type::null) == SQLITE_NULL);
  return static_cast<Type>(sqlite3_column_type(handle_, column));
}

int Statement::columns() const { return sqlite3_column_count(handle_); }

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(handle_, column);
  return name == nullptr ? "" : name;
}

std::string insert_into(std::string_view columns, std::string_view verb) {
  std::string sql = std::string(verb) + " INTO " + std::string(columns) + " VALUES(?";
  for (const char c : columns) {
    sql += c == ',' ? ",?" : "";
  }
  return sql + ")";
}

Statement& Statements::find(std::string_view text, std::string_view verb) {
  auto found = by_text_.find(text);
  if (found == by_text_.end()) {
    const std::string sql = verb.empty() ? std::string(text) : insert_into(text, verb);
    found = by_text_.emplace(text, Statement(database_, sql)).first;
  }
  return found->second;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (database_.in_transaction()) {
    try {
      database_.execute("ROLLBACK");
    } catch (...) {  // the error that led here is already on its way
    }
  }
}

void Transaction::commit() { database_.execute("COMMIT"); }

}  // namespace reprise::profile
