// What went wrong or is worth telling about the run of a capture: its events, what its writer had
// to leave out, and what of the file makes no sense.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

enum class LogSeverity : std::uint8_t { debug, info, warning, error };
inline constexpr std::size_t kLogSeverities = 4;
const char* name_of(LogSeverity severity);

struct LogEntry {
  std::optional<std::int64_t> time_ns;  // since the run began
  LogSeverity severity = LogSeverity::info;
  std::string source, code, message;
  std::optional<std::uint32_t> node;   // of the capture
  std::optional<std::int64_t> replay;  // its id
  bool operator==(const LogEntry&) const = default;
};

struct EventLog {
  std::vector<LogEntry> entries;  // as they came; what the file itself says last
  bool truncated = false;         // only the last 10,000 events
  /// How many are at least that severe.
  std::array<std::size_t, kLogSeverities> counts{};
};

/// Throws io as the readers.
EventLog read_event_log(const std::filesystem::path& path, const Capture& capture,
                        const std::stop_token& stop = {});

/// Positions of the entries that are at least that severe and have `words` in their message,
/// source or code, in any case.
std::vector<std::uint32_t> log_rows(const EventLog& log, LogSeverity min, const std::string& words);

std::string events_sql(std::int64_t run, LogSeverity min);

}  // namespace reprise::debugger
