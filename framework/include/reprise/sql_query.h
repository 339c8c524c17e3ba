// Runs SQL over a profiling database, reading only: nothing can be written, attached or loaded.
// Results are bounded, and a query that takes too long can be cancelled.
#pragma once
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace reprise {

/// Thrown by a reader that was asked to stop.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "The reading was cancelled."; }
};

/// NULL, a number, text, or the size in bytes of a blob.
struct BlobSize {
  std::uint64_t bytes = 0;
  bool operator==(const BlobSize&) const = default;
};
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, BlobSize>;

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
  bool truncated = false;  // there are more rows than the limit
  std::chrono::nanoseconds elapsed{};
};

struct SqlLimits {
  std::size_t rows = 10'000;
  std::size_t text_bytes = std::size_t{64} << 10U;  // of one value; longer ones are cut
  std::chrono::milliseconds time{30'000};
};

/// Runs one statement that only reads. percentile(x, p), median(x) and stddev(x) are available too,
/// p from 0 to 100.
/// Errors: invalid_argument with SQLite's message for any other statement; timeout if it takes
/// longer than allowed; Cancelled once `stop` asks; io as the readers.
SqlResult run_sql(const std::filesystem::path& path, const std::string& sql,
                  const SqlLimits& limits = {}, const std::stop_token& stop = {});

}  // namespace reprise
