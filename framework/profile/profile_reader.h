// Reads what a profiling database is about, for `reprise db info`. Anything else is a question for
// SQL. Works while the file is being written and holds nothing open afterwards.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

struct RunSummary {
  std::int64_t id = 0;
  std::string label, app, start_utc, hostname;
  std::string device;      // of the first recording or session; empty without one
  std::string exit_state;  // "done", "running", "crashed", or why profiling stopped
  std::uint64_t recordings = 0, replays = 0;
};

struct GraphSummary {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t nodes = 0, steps = 0, barriers = 0, edges = 0;
  std::uint64_t arena_bytes = 0, naive_bytes = 0, live_peak_bytes = 0;
  std::uint64_t replays = 0;  // warm-up included, which the medians leave out
  std::optional<std::int64_t> median_device_ns, median_submit_ns;
};

struct TableSummary {
  std::string name;
  std::uint64_t rows = 0;
};

struct DatabaseInfo {
  std::filesystem::path path;
  std::int64_t schema_version = 0;
  std::uint64_t bytes = 0;  // with the write-ahead log
  std::vector<RunSummary> runs;
  std::vector<GraphSummary> graphs;
  std::vector<TableSummary> tables;  // by name
};

/// Throws io if the file cannot be read, is not a profiling database, is damaged, or has a newer
/// schema. Text is returned as stored: escape it before it reaches a terminal.
DatabaseInfo read_profile_info(const std::filesystem::path& path);

}  // namespace reprise
