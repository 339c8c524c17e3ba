#include "debugger/cli/trace_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "debugger/model/sql_values.h"
#include "reprise/core/error.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int64_t kMost = std::int64_t{1} << 60;

/// A value of a row; NULL and what is no number count as 0.
std::int64_t integer(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::clamp(*whole, -kMost, kMost);
  }
  const auto* real = std::get_if<double>(&value);
  return real == nullptr || std::isnan(*real)
             ? 0
             : static_cast<std::int64_t>(std::clamp(*real, -double{kMost}, double{kMost}));
}

std::optional<std::int64_t> optional(const SqlValue& value) {
  return std::holds_alternative<std::monostate>(value) ? std::nullopt
                                                       : std::optional(integer(value));
}

/// A duration, which is not negative.
std::optional<std::int64_t> duration(const SqlValue& value) {
  const auto ns = optional(value);
  return ns ? std::optional(std::max<std::int64_t>(*ns, 0)) : ns;
}

double real(const SqlValue& value) {
  const auto* number = std::get_if<double>(&value);
  const double found = number != nullptr ? *number : static_cast<double>(integer(value));
  return std::isfinite(found) ? found : 0;
}

using debugger::text_or_empty;
using Row = std::vector<SqlValue>;

SqlResult result_of(const std::string& path, const std::string& sql) {
  constexpr std::size_t kMaxRows = 1'000'000;
  return run_sql(path, sql, {.rows = kMaxRows});
}

std::vector<Row> rows_of(const std::string& path, const std::string& sql) {
  return result_of(path, sql).rows;
}

/// Pages of a query whose `where` asks for rows behind the last one. A page of long texts is cut
/// before its last row.
template <class Where, class Each>
void pages(const std::string& path, const std::string& select, const std::string& order,
           Where&& where, Each&& each) {
  Row last;
  for (;;) {
    const SqlResult page = result_of(
        path, select + where(last) + " ORDER BY " + order + " LIMIT " + std::to_string(kPage));
    if (page.rows.empty()) {
      return;
    }
    each(page.rows);
    last = page.rows.back();
    if (!page.truncated && page.rows.size() < kPage) {
      return;
    }
  }
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// A value of an ORDER BY in SQL, exactly.
std::string key(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    return nlohmann::json(*number).dump();
  }
  const auto* whole = std::get_if<std::int64_t>(&value);
  return std::to_string(whole != nullptr ? *whole : 0);
}

/// Columns time, id, ... in the order of time.
template <class Each>
void each_in_time(const std::string& path, const std::string& select, const std::string& condition,
                  Each&& each) {
  pages(
      path, "SELECT * FROM (" + select + ")", "1, 2",
      [&](const Row& last) {
        return " WHERE typeof(t)='integer' AND " + condition +
               (last.empty() ? "" : " AND (t, id)>(" + key(last[0]) + "," + key(last[1]) + ")");
      },
      [&](const std::vector<Row>& rows) {
        for (const Row& row : rows) {
          each(row);
        }
      });
}

}  // namespace

std::vector<TraceRun> TraceRows::runs() const {
  const std::string chosen =
      choice_.replay ? "(SELECT c.run_id FROM replays r JOIN recordings c ON c.id=r.recording_id "
                       "WHERE r.id=" +
                           number(*choice_.replay) + ")"
      : choice_.run ? number(*choice_.run)
                    : std::string("(SELECT max(id) FROM runs)");
  const std::vector<Row> rows = rows_of(
      path_,
      "SELECT r.id, r.rank, r.world_size, coalesce(nullif(r.label, ''), r.app), r.t_start_ns, "
      "coalesce(r.t_end_ns, r.heartbeat_ns, r.t_start_ns), (SELECT realtime_ns-t_host_ns FROM "
      "clock_sync WHERE run_id=r.id AND realtime_ns IS NOT NULL ORDER BY t_host_ns LIMIT 1), "
      "r.host_id FROM runs r ORDER BY r.id=" +
          chosen + " DESC, r.id");
  std::vector<TraceRun> runs;
  for (const Row& row : rows) {
    TraceRun run;
    run.id = integer(row[0]);
    run.rank = integer(row[1]);
    run.world_size = integer(row[2]);
    run.name = text_or_empty(row[3]);
    run.start_ns = integer(row[4]);
    run.end_ns = std::max(run.start_ns, integer(row[5]));
    run.calendar_ns = optional(row[6]);
    run.host = integer(row[7]);
    if (runs.empty()) {
      if (choice_.run && run.id != *choice_.run) {
        break;
      }
      runs.push_back(std::move(run));
      continue;
    }
    const TraceRun& first = runs.front();
    const std::int64_t ahead =
        run.host == first.host ? 0 : run.calendar_ns.value_or(0) - first.calendar_ns.value_or(0);
    const bool together =
        run.start_ns + ahead <= first.end_ns && first.start_ns <= run.end_ns + ahead;
    if (!choice_.replay && together) {
      runs.push_back(std::move(run));
    }
  }
  if (runs.empty()) {
    throw_invalid_argument("The profiling database (", path_, ") has no run",
                           (choice_.run ? " (" + number(*choice_.run) + ")" : ""),
                           "; `reprise db info` lists them.");
  }
  std::ranges::sort(runs, {}, [](const TraceRun& run) { return std::pair(run.rank, run.id); });
  return runs;
}

std::vector<TraceDevice> TraceRows::devices(const TraceRun& run) const {
  std::vector<TraceDevice> devices;
  for (const Row& row :
       rows_of(path_,
               "SELECT id, name, timestamp_period_ns, timestamp_valid_bits FROM devices WHERE id "
               "IN (SELECT device_id FROM recordings WHERE run_id=" +
                   number(run.id) + ") ORDER BY id")) {
    std::vector<DeviceMoments::Comparison> comparisons;
    for (const Row& clock :
         rows_of(path_,
                 "SELECT t_host_ns, device_ticks FROM clock_sync WHERE run_id=" + number(run.id) +
                     " AND device_id=" + number(integer(row[0])) + " ORDER BY t_host_ns")) {
      const auto* ticks = std::get_if<std::int64_t>(&clock[1]);
      comparisons.push_back(
          {integer(clock[0]), ticks != nullptr ? static_cast<std::uint64_t>(*ticks) : 0});
    }
    devices.push_back({integer(row[0]), text_or_empty(row[1]),
                       DeviceMoments(std::move(comparisons), real(row[2]), integer(row[3]))});
  }
  return devices;
}

std::string TraceRows::window(const TraceRun& run, const std::string& begin,
                              const std::string& end) const {
  std::string condition = "run_id=" + number(run.id);
  if (choice_.replay) {
    const std::string replay = " FROM replays WHERE id=" + number(*choice_.replay) + ")";
    condition +=
        " AND " + end + ">=(SELECT t_submit_ns-coalesce(prepare_ns,0)" + replay + " AND " + begin +
        "<=(SELECT "
        "t_submit_ns+coalesce(submit_ns,0)+max(coalesce(wait_ns,0),coalesce(device_ns,0))" +
        replay;
  }
  return condition;
}

std::int64_t TraceRows::first_ns(const TraceRun& run) const {
  const std::string of_run = " WHERE " + window(run, "t", "t");
  const std::string replays =
      "SELECT min(r.t_submit_ns-coalesce(r.prepare_ns,0)) AS t FROM replays r JOIN recordings c ON "
      "c.id=r.recording_id WHERE c.run_id=" +
      number(run.id);
  const std::vector<Row> rows = rows_of(
      path_, choice_.replay
                 ? replays + " AND r.id=" + number(*choice_.replay)
                 : "SELECT min(t) FROM (" + replays +
                       " UNION ALL SELECT min(t) FROM (SELECT t_start_ns AS t, run_id FROM scopes "
                       "UNION ALL SELECT t_ns, run_id FROM recordings UNION ALL SELECT t_ns, "
                       "run_id FROM events UNION ALL SELECT t_ns, run_id "
                       "FROM memory_samples UNION ALL SELECT t_ns, run_id FROM counter_values)" +
                       of_run + ")");
  return rows.empty() || std::holds_alternative<std::monostate>(rows[0][0]) ? run.start_ns
                                                                            : integer(rows[0][0]);
}

void TraceRows::each_replay_page(
    const TraceRun& run, const std::function<void(const std::vector<TraceReplay>&)>& each) const {
  pages(
      path_,
      "SELECT r.id, r.recording_id, c.graph_id, c.device_id, r.seq, r.submission, r.iteration, "
      "r.t_submit_ns, r.timing_mode, r.status, r.slot, r.prepare_ns, "
      "r.submit_ns, r.wait_ns, r.device_start_ns, r.device_ns, coalesce(r.phase, g.name), "
      "r.warm_up, EXISTS(SELECT 1 FROM step_timings WHERE replay_id=r.id) FROM replays r CROSS "
      "JOIN recordings c ON c.id=r.recording_id CROSS JOIN graphs g ON g.id=c.graph_id WHERE "
      "c.run_id=" +
          number(run.id) + (choice_.replay ? " AND r.id=" + number(*choice_.replay) : ""),
      "r.id",
      [](const Row& last) { return last.empty() ? std::string() : " AND r.id>" + key(last[0]); },
      [&](const std::vector<Row>& rows) {
        std::vector<TraceReplay> page;
        for (const Row& row : rows) {
          TraceReplay replay;
          std::int64_t TraceReplay::*const numbers[] = {
              &TraceReplay::id,        &TraceReplay::recording,      &TraceReplay::graph,
              &TraceReplay::device,    &TraceReplay::sequence,       &TraceReplay::submission,
              &TraceReplay::iteration, &TraceReplay::submit_time_ns, &TraceReplay::timing_mode,
              &TraceReplay::status};
          std::size_t column = 0;
          for (const auto member : numbers) {
            replay.*member = integer(row[column++]);
          }
          replay.slot = optional(row[10]);
          replay.prepare_ns = duration(row[11]);
          replay.submit_ns = duration(row[12]);
          replay.wait_ns = duration(row[13]);
          replay.device_start_ns = optional(row[14]);
          replay.device_ns = duration(row[15]);
          replay.phase = text_or_empty(row[16]);
          replay.warm_up = integer(row[17]) != 0;
          replay.has_step_times = integer(row[18]) != 0;
          page.push_back(std::move(replay));
        }
        each(page);
      });
}

void TraceRows::each_scope(const TraceRun& run,
                           const std::function<void(const TraceScope&)>& each) const {
  pages(
      path_,
      "SELECT t_start_ns, -coalesce(dur_ns, 0), id, coalesce(thread, ''), name, "
      "coalesce(category, '') FROM scopes WHERE " +
          window(run, "t_start_ns", "t_start_ns+coalesce(dur_ns,0)") +
          " AND typeof(t_start_ns)='integer' AND typeof(dur_ns) IN ('integer', 'null')",
      "1, 2, 3",
      [](const Row& last) {
        return last.empty() ? std::string()
                            : " AND (t_start_ns, -coalesce(dur_ns, 0), id)>(" + key(last[0]) + "," +
                                  key(last[1]) + "," + key(last[2]) + ")";
      },
      [&](const std::vector<Row>& rows) {
        for (const Row& row : rows) {
          each({integer(row[2]), integer(row[0]), std::max<std::int64_t>(-integer(row[1]), 0),
                text_or_empty(row[3]), text_or_empty(row[4]), text_or_empty(row[5])});
        }
      });
}

void TraceRows::each_instant(const TraceRun& run,
                             const std::function<void(const TraceInstant&)>& each) const {
  constexpr std::array kAbout{"level", "message", "graph", "key", "reason"};  // from column 4
  each_in_time(
      path_,
      "SELECT e.t_ns AS t, 3*e.id AS id, e.run_id, e.source || coalesce(': ' || e.code, '') AS "
      "name, CASE e.severity WHEN 0 THEN 'debug' WHEN 1 THEN 'info' WHEN 2 THEN 'warning' ELSE "
      "'error' END, e.message, g.name, '', '' FROM events e LEFT JOIN graphs g ON g.id=e.graph_id "
      "UNION ALL SELECT c.t_ns, 3*c.id+1, c.run_id, 'recorded ' || coalesce(g.name, ''), '', '', "
      "'', c.key_json, '' FROM recordings c JOIN graphs g ON g.id=c.graph_id UNION ALL SELECT "
      "c.evicted_t_ns, 3*c.id+2, c.run_id, 'let go ' || coalesce(g.name, ''), '', '', '', "
      "c.key_json, coalesce(c.evicted_reason, c.stale_reason) FROM recordings c JOIN graphs g ON "
      "g.id=c.graph_id WHERE c.evicted_t_ns IS NOT NULL",
      window(run, "t", "t"), [&](const Row& row) {
        TraceInstant instant{integer(row[0]), text_or_empty(row[3]), {}};
        for (std::size_t a = 0; a < kAbout.size(); ++a) {
          if (std::string about = text_or_empty(row[a + 4]); !about.empty()) {
            instant.about.emplace_back(kAbout[a], std::move(about));
          }
        }
        each(instant);
      });
}

void TraceRows::each_sample(const TraceRun& run,
                            const std::function<void(const TraceSample&)>& each) const {
  each_in_time(path_,
               "SELECT t_ns AS t, 2*id AS id, run_id, coalesce('memory: ' || purpose, 'heap ' || "
               "heap) || ' (bytes)' AS name, used_bytes AS value FROM "
               "memory_samples WHERE used_bytes IS NOT NULL UNION ALL SELECT v.t_ns, 2*v.id+1, "
               "v.run_id, n.name || ' (' || n.unit || ')', v.value FROM counter_values v JOIN "
               "counters n ON n.id=v.counter_id",
               window(run, "t", "t"), [&](const Row& row) {
                 each({integer(row[0]), text_or_empty(row[3]), real(row[4])});
               });
}

}  // namespace reprise::cli
