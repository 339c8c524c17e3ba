#include <algorithm>
#include <limits>
#include <numeric>

#include "framework/profile/captures.h"
#include "framework/profile/words.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kReplayTables{"graphs", "recordings", "replays", "state_fields"};

std::size_t state_words(Database& database, std::int64_t graph) {
  std::size_t words = 0;
  Statement rows(database, "SELECT offset_bytes, count FROM state_fields WHERE graph_id=?");
  rows.bind_all(graph);
  while (rows.step()) {
    if (lies_in_state(rows.integer(0), rows.integer(1))) {
      words = std::max(words, static_cast<std::size_t>(rows.integer(0) / 4 + rows.integer(1)));
    }
  }
  return words;
}

constexpr std::int64_t kLastMode = static_cast<int>(TimingMode::node_serialised);
constexpr std::int64_t kMaxStatus = std::numeric_limits<std::uint32_t>::max();

// There may be a million rows, so each column is looked at once.
void append(const Statement& row, ReplayTable& table) {
  using Type = Statement::Type;
  const auto number = [&](int column, std::int64_t max = std::numeric_limits<std::int64_t>::max()) {
    const Type type = row.type(column);
    const std::int64_t value = type == Type::integer ? row.integer(column) : -1;
    const bool sound = value >= 0 && value <= max;
    table.odd_numbers += sound || type == Type::null ? 0U : 1U;
    return sound ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt;
  };
  ReplayRow replay;
  replay.id = row.integer(0);
  replay.sequence = number(1).value_or(0);
  replay.submit_time_ns = row.integer(2);
  table.odd_numbers += row.type(2) == Type::integer ? 0U : 1U;
  replay.prepare_ns = number(3);
  replay.submit_ns = number(4);
  replay.wait_ns = number(5);
  replay.device_ns = number(6);
  replay.phase = row.text(7);
  replay.timing_mode = static_cast<TimingMode>(number(8, kLastMode).value_or(0));
  replay.warm_up = row.integer(9) != 0;
  // One that makes no sense is not that of a replay that succeeded.
  replay.status = static_cast<std::uint32_t>(number(10, kMaxStatus).value_or(kMaxStatus));
  table.rows.push_back(std::move(replay));
  const std::size_t first = table.state.size();
  table.state.resize(first + table.state_words);
  read_words(row.blob(11), std::span(table.state).subspan(first));
}

/// Rows from `first` on by their ids: those of one recording after those of another, or in the
/// order of an index, which a file may have in any.
void sort_by_id(ReplayTable& table, std::size_t first) {
  const auto begin = table.rows.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::ranges::is_sorted(begin, table.rows.end(), {}, &ReplayRow::id)) {
    return;
  }
  std::vector<std::size_t> order(table.rows.size() - first);
  std::iota(order.begin(), order.end(), first);
  std::ranges::sort(order, {}, [&](std::size_t row) { return table.rows[row].id; });
  ReplayTable sorted;
  for (const std::size_t row : order) {
    const auto state = table.state.begin() + static_cast<std::ptrdiff_t>(row * table.state_words);
    sorted.state.insert(sorted.state.end(), state,
                        state + static_cast<std::ptrdiff_t>(table.state_words));
    sorted.rows.push_back(std::move(table.rows[row]));
  }
  std::ranges::move(sorted.rows, begin);
  std::ranges::copy(sorted.state,
                    table.state.begin() + static_cast<std::ptrdiff_t>(first * table.state_words));
}

}  // namespace
}  // namespace profile

std::size_t read_new_replays(const std::filesystem::path& path, CaptureId id, ReplayTable& table,
                             const std::stop_token& stop) {
  const std::size_t before = table.rows.size();
  const std::uint64_t odd_before = table.odd_numbers;
  const std::int64_t last =
      before == 0 ? std::numeric_limits<std::int64_t>::min() : table.rows.back().id;
  profile::read_snapshot(
      path, profile::kReplayTables,
      [&](profile::Database& database) {
        table.rows.resize(before);
        table.odd_numbers = odd_before;
        if (before == 0) {
          table.state_words = profile::state_words(database, id.graph);
        }
        table.state.resize(before * table.state_words);
        // Recording by recording: the index of replays has the rows of each in order, and those of
        // all together would be sorted in a file.
        profile::Statement recordings(database,
                                      "SELECT id FROM recordings WHERE run_id=? AND graph_id=?");
        profile::Statement rows(
            database,
            "SELECT id, seq, t_submit_ns, prepare_ns, submit_ns, wait_ns, device_ns, phase, "
            "timing_mode, warm_up, status, state FROM replays WHERE recording_id=? AND id>? ORDER "
            "BY id");
        recordings.bind_all(id.run, id.graph);
        while (recordings.step()) {
          rows.bind_all(recordings.integer(0), last);
          while (rows.step()) {
            profile::append(rows, table);
          }
        }
        profile::sort_by_id(table, before);
      },
      stop);
  return table.rows.size() - before;
}

}  // namespace reprise
