// SQLite as one writes it by hand for one job: what the profiling database is compared with.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace reprise::bench {

class BareSqlite {
 public:
  /// An existing profiling database. Throws what SQLite says.
  explicit BareSqlite(const std::filesystem::path& path);

  void execute(const std::string& sql);
  /// The first column of the first row.
  std::int64_t integer(const std::string& sql);
  /// Steps to the end of a query. False: somebody holds the file.
  bool read(const std::string& sql);

  /// Copies the rows that replaying wrote into `to`, an empty profiling database with the same
  /// graphs, in transactions of that many replays: read first, then inserted with prepared
  /// statements. Nanoseconds of CPU time for the second.
  std::int64_t insert_rows_into(BareSqlite& to, std::size_t replays_per_batch);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace reprise::bench
