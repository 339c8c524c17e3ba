#include "debugger/model/event_log.h"

#include <algorithm>
#include <utility>

#include "debugger/model/sql_values.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMaxEvents = 10'000;
constexpr std::size_t kLongestText = 4096;

/// Severities of files that nobody damaged are 0 to 3.
LogSeverity severity_of(const SqlValue& value) {
  return static_cast<LogSeverity>(std::clamp<std::int64_t>(whole_of(value).value_or(1), 0, 3));
}

SqlResult ask(const std::filesystem::path& path, const std::string& sql,
              const std::stop_token& stop) {
  SqlLimits limits;
  limits.rows = kMaxEvents;
  limits.text_bytes = kLongestText;
  return run_sql(path, sql, limits, stop);
}

/// The last ones, as those are what somebody looks for.
void add_events(const std::filesystem::path& path, const Capture& capture,
                const std::stop_token& stop, EventLog& log) {
  const std::string run = std::to_string(capture.summary.id.run);
  const SqlResult result =
      ask(path,
          "SELECT e.t_ns - (SELECT t_start_ns FROM runs WHERE id = e.run_id), e.severity, "
          "e.source, e.code, e.message, e.graph_id, e.node_idx, e.replay_id FROM events e WHERE "
          "e.run_id = " +
              run + " ORDER BY e.t_ns DESC, e.id DESC",
          stop);
  log.truncated = result.truncated;
  std::size_t dangling = 0;
  for (auto row = result.rows.rbegin(); row != result.rows.rend(); ++row) {
    const auto& r = *row;
    LogEntry entry{whole_of(r[0]),
                   severity_of(r[1]),
                   text_or_empty(r[2]),
                   text_or_empty(r[3]),
                   text_or_empty(r[4]),
                   {},
                   {}};
    const auto node = whole_of(r[6]);
    const bool here = whole_of(r[5]) == capture.summary.id.graph && node;
    const bool lies = here && *node >= 0 && std::cmp_less(*node, capture.nodes.size());
    if (lies) {
      entry.node = static_cast<std::uint32_t>(*node);
    }
    entry.replay = whole_of(r[7]);
    const bool no_severity = whole_of(r[1]) != static_cast<std::int64_t>(entry.severity);
    dangling += (here && !lies) || no_severity ? 1U : 0U;
    log.entries.push_back(std::move(entry));
  }
  if (dangling > 0) {
    log.entries.push_back({{},
                           LogSeverity::warning,
                           "file",
                           "left_out",
                           std::to_string(dangling) +
                               " events name a node or a severity that there is not: "
                               "they are shown without the node, and with the nearest severity.",
                           {},
                           {}});
  }
}

void add_drops(const std::filesystem::path& path, const Capture& capture,
               const std::stop_token& stop, EventLog& log) {
  const SqlResult result =
      ask(path,
          "SELECT what, reason, sum(count) FROM drops WHERE run_id = " +
              std::to_string(capture.summary.id.run) + " GROUP BY what, reason ORDER BY 1, 2",
          stop);
  for (const auto& row : result.rows) {
    const std::int64_t count = whole_of(row[2]).value_or(0);
    log.entries.push_back({{},
                           LogSeverity::warning,
                           "profile",
                           "dropped",
                           std::to_string(count) + " of (" + text_or_empty(row[0]) +
                               ") were not recorded: " + text_or_empty(row[1]) + ".",
                           {},
                           {}});
  }
}

bool has_words(const std::string& in, const std::string& words) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(in.begin(), in.end(), words.begin(), words.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != in.end();
}

}  // namespace

const char* name_of(LogSeverity severity) {
  constexpr std::array kNames{"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

EventLog read_event_log(const std::filesystem::path& path, const Capture& capture,
                        const std::stop_token& stop) {
  EventLog log;
  add_events(path, capture, stop, log);
  add_drops(path, capture, stop, log);
  for (const FileProblem& problem : capture.problems) {
    log.entries.push_back({{}, LogSeverity::warning, "file", "left_out", problem.text, {}, {}});
  }
  for (const LogEntry& entry : log.entries) {
    for (std::size_t s = 0; s <= static_cast<std::size_t>(entry.severity); ++s) {
      ++log.counts[s];
    }
  }
  return log;
}

std::vector<std::uint32_t> log_rows(const EventLog& log, LogSeverity min,
                                    const std::string& words) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < log.entries.size(); ++i) {
    const LogEntry& entry = log.entries[i];
    if (entry.severity >= min && (words.empty() || has_words(entry.message, words) ||
                                  has_words(entry.source, words) || has_words(entry.code, words))) {
      rows.push_back(i);
    }
  }
  return rows;
}

std::string events_sql(std::int64_t run, LogSeverity min) {
  return "SELECT (e.t_ns - r.t_start_ns) / 1e6 AS ms, e.severity, e.source, e.code, e.message,\n"
         "  e.graph_id, e.node_idx AS node, e.replay_id\n"
         "FROM events e JOIN runs r ON r.id = e.run_id\n"
         "WHERE e.run_id = " +
         std::to_string(run) + " AND e.severity >= " + std::to_string(static_cast<int>(min)) +
         "\nORDER BY e.t_ns, e.id";
}

}  // namespace reprise::debugger
