// The commands of `reprise` that look into a profiling database, compare, check or rewrite one.
// Each prints to stdout and throws reprise::Error for failures. Those that return a number return
// the exit status: 0, or 3 if what they look for was found.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "debugger/cli/listing.h"
#include "framework/profile/capture_reader.h"

namespace reprise::cli {

inline constexpr int kFound = 3;

/// Throws invalid_argument if `value` is not above 0, or above `max`.
std::size_t positive(const char* option, std::int64_t value,
                     std::int64_t max = std::numeric_limits<std::int64_t>::max());

struct SqlOptions {
  std::string path, query;
  Format format = Format::table;
  std::int64_t limit = 10'000, timeout_s = 30;
};
void print_sql(const SqlOptions& options);

/// Which replay of which graph; without either the last replay with step times.
struct CaptureOptions {
  std::string path;
  CaptureSelector wish{};
  Format format = Format::table;
};
void print_timeline(const CaptureOptions& options);
void print_memory(const CaptureOptions& options);
void print_barriers(const CaptureOptions& options);

/// What watched launches brought back.
struct TensorsCommand {
  std::string path;
  CaptureSelector wish{};
  std::int64_t limit = 10'000;
  Format format = Format::table;
};
void print_tensors(const TensorsCommand& command);

struct CheckOptions {
  std::string path;
  bool json = false;
};
int print_check(const CheckOptions& options);

struct DiffCommand {
  std::string path, other{};  // no other: another run of the same
  std::optional<std::int64_t> run_a{}, run_b{};
  std::optional<std::string> fail_above{};  // "5%"
  Format format = Format::table;
};
/// kFound if a node is slower by more than fail_above.
int print_diff(const DiffCommand& command);

/// Files to write; "-" is standard output.
struct ExportCommand {
  std::string path;
  CaptureSelector wish{};
  std::string perfetto{}, dot{}, svg{}, html{};
  std::optional<std::int64_t> run{};  // of a trace; none: the latest
};
void export_capture(const ExportCommand& command);

struct PruneCommand {
  std::string path;
  std::optional<std::int64_t> keep_runs{}, keep_replays{};
  bool vacuum = false, json = false;
};
void prune(const PruneCommand& command);

struct ScrubCommand {
  std::string path, out;
};
void scrub(const ScrubCommand& command);

struct MergeCommand {
  std::vector<std::string> paths;
  std::string out;
  bool json = false;
};
void merge(const MergeCommand& command);

}  // namespace reprise::cli
