#include <algorithm>
#include <limits>

#include "framework/profile/captures.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kTables{"graphs", "recordings", "replays", "state_fields"};

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
constexpr std::int64_t kMostStatus = std::numeric_limits<std::uint32_t>::max();

void append(const Statement& row, ReplayTable& table) {
  const auto odd = [&](int column, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    const bool is = is_odd(row, column, most);
    table.odd_numbers += is ? 1 : 0;
    return is;
  };
  const auto time = [&](int column) {
    return odd(column) ? std::nullopt : optional_count(row, column);
  };
  ReplayRow replay;
  replay.id = row.integer(0);
  replay.sequence = odd(1) ? 0 : count(row, 1);
  replay.submit_time_ns = row.integer(2);
  table.odd_numbers += row.type(2) == Statement::Type::integer ? 0U : 1U;
  replay.prepare_ns = time(3);
  replay.submit_ns = time(4);
  replay.wait_ns = time(5);
  replay.device_ns = time(6);
  replay.phase = row.text(7);
  replay.timing_mode =
      odd(8, kLastMode) ? TimingMode::off : static_cast<TimingMode>(row.integer(8));
  replay.warm_up = row.integer(9) != 0;
  // One that makes no sense is not that of a replay that succeeded.
  replay.status = static_cast<std::uint32_t>(odd(10, kMostStatus) ? kMostStatus : row.integer(10));
  table.rows.push_back(std::move(replay));
  const std::size_t first = table.state.size();
  table.state.resize(first + table.state_words);
  const std::span<const std::byte> state = row.blob(11);
  const std::size_t bytes = std::min(state.size(), table.state_words * 4);
  for (std::size_t b = 0; b < bytes; ++b) {
    table.state[first + b / 4] |= std::to_integer<std::uint32_t>(state[b]) << b % 4 * 8;
  }
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
      path, profile::kTables,
      [&](profile::Database& database) {
        table.rows.resize(before);
        table.odd_numbers = odd_before;
        if (before == 0) {
          table.state_words = profile::state_words(database, id.graph);
        }
        table.state.resize(before * table.state_words);
        profile::Statement rows(
            database,
            "SELECT r.id, r.seq, r.t_submit_ns, r.prepare_ns, r.submit_ns, r.wait_ns, r.device_ns, "
            "r.phase, r.timing_mode, r.warm_up, r.status, r.state FROM recordings c CROSS JOIN "
            "replays r ON r.recording_id=c.id WHERE c.run_id=?1 AND c.graph_id=?2 AND r.id>?3 "
            "ORDER "
            "BY r.id");
        rows.bind_all(id.run, id.graph, last);
        while (rows.step()) {
          profile::append(rows, table);
        }
      },
      stop);
  return table.rows.size() - before;
}

}  // namespace reprise
