// Step times, node times and histograms as the writer packs them: see the comments of schema.sql.
#include <algorithm>

#include "framework/profile/captures.h"
#include "framework/profile/histogram.h"
#include "framework/profile/step_times.h"
#include "framework/profile/words.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kStepTables{"step_timings"};
constexpr std::array kNodeTables{"nodes", "node_stats"};

/// Step times as the file has them: a third of what they take when they are unpacked.
struct PackedTimes {
  std::size_t position = 0;  // of the replay, among those asked for
  std::uint64_t unit_ns = 0;
  Blob data;
};

void unpack(const PackedTimes& packed, std::vector<CapturedStepTime>& times) {
  const std::span<const std::byte> data = packed.data;
  const std::uint64_t unit = packed.unit_ns;
  std::array<std::uint32_t, 2> words{};
  const auto& [start, duration] = words;
  for (std::size_t s = 0; s < times.size(); ++s) {
    read_words(data.subspan(s * 8, 8), words);
    times[s].start_ns = start * unit;
    times[s].duration_ns =
        duration == StepTimes::kNoDuration ? std::nullopt : std::optional(duration * unit);
  }
}

/// Those of one replay, from a query of unit_ns, data. What was asked for may be answered by an
/// index of the file, which can hold anything: of `bytes` bytes, and the first if there are
/// several.
void add_packed(Statement& rows, std::size_t position, std::size_t bytes,
                std::vector<PackedTimes>& packed) {
  bool found = false;
  while (rows.step()) {
    const std::span<const std::byte> data = rows.blob(1);
    if (!found && data.size() == bytes) {
      found = true;
      packed.push_back(
          {position, static_cast<std::uint64_t>(rows.integer(0)), Blob(data.begin(), data.end())});
    }
  }
}

/// Positions in `replays` of those with step times; of more than `most`, as many, evenly.
std::vector<std::size_t> find_timed(Database& database, std::span<const std::int64_t> replays,
                                    std::size_t max) {
  std::vector<std::size_t> found;
  if (replays.empty()) {
    return found;
  }
  Statement rows(database,
                 "SELECT replay_id FROM step_timings WHERE replay_id BETWEEN ? AND ? ORDER BY 1");
  rows.bind_all(replays.front(), replays.back());
  auto next = replays.begin();
  while (rows.step()) {
    next = std::lower_bound(next, replays.end(), rows.integer(0));
    if (next != replays.end() && *next == rows.integer(0)) {
      found.push_back(static_cast<std::size_t>(next - replays.begin()));
    }
  }
  if (found.size() > max) {
    for (std::size_t i = 0; i < max; ++i) {
      found[i] = found[i * found.size() / max];
    }
    found.resize(max);
  }
  return found;
}

std::uint64_t most_replays(const NodeTimingTable& table) {
  std::uint64_t max = 0;
  for (const auto& node : table.nodes) {
    max = std::max(max, node ? node->count : 0);
  }
  return max;
}

/// The next number of LEB128, taken off the front; empty if there is none.
std::optional<std::uint64_t> take_number(std::span<const std::byte>& data) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 63 && !data.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(data.front());
    data = data.subspan(1);
    number |= (byte & 0x7FU) << shift;
    if (byte < 0x80U) {
      return number;
    }
  }
  return std::nullopt;
}

std::vector<HistogramBucket> buckets_of(std::span<const std::byte> data) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  std::vector<HistogramBucket> buckets;
  const std::optional<std::uint64_t> first = take_number(data);
  for (std::uint64_t bucket = first.value_or(kBuckets); bucket < kBuckets; ++bucket) {
    const std::optional<std::uint64_t> count = take_number(data);
    if (!count) {
      break;
    }
    const BucketRange range = range_of(static_cast<std::uint32_t>(bucket));
    buckets.push_back({range.low, range.last == kLast ? kLast : range.last + 1, *count});
  }
  return buckets;
}

}  // namespace
}  // namespace profile

void read_step_times(
    const std::filesystem::path& path, std::span<const std::int64_t> replays, std::size_t steps,
    const std::function<void(std::size_t, std::span<const CapturedStepTime>)>& each,
    std::size_t max, const std::stop_token& stop) {
  // Nothing is passed on before all of it is known to be of one moment.
  std::vector<profile::PackedTimes> packed;
  profile::read_snapshot(
      path, profile::kStepTables,
      [&](profile::Database& database) {
        packed.clear();
        const std::vector<std::size_t> timed = profile::find_timed(database, replays, max);
        profile::Statement rows(database,
                                "SELECT unit_ns, data FROM step_timings WHERE replay_id=? AND " +
                                    std::string(profile::kSoundStepTimes) + "?");
        for (const std::size_t position : timed) {
          rows.bind_all(replays[position], steps);
          profile::add_packed(rows, position, steps * 8, packed);
        }
      },
      stop);
  std::vector<CapturedStepTime> times(steps);
  for (const profile::PackedTimes& of_replay : packed) {
    profile::unpack(of_replay, times);
    each(of_replay.position, times);
  }
}

std::vector<NodeTimingTable> read_node_timings(const std::filesystem::path& path, CaptureId id,
                                               const std::stop_token& stop) {
  auto result = profile::read_snapshot(
      path, profile::kNodeTables,
      [&](profile::Database& database) {
        std::vector<NodeTimingTable> tables;
        const auto nodes = static_cast<std::size_t>(
            database.integer("SELECT count(*) FROM nodes WHERE graph_id=?", id.graph));
        profile::Statement rows(
            database,
            "SELECT phase, timing_mode, idx, n, sum_ns, min_ns, max_ns, p50_ns, p95_ns, mean_ns, "
            "stddev_ns, 2.0*below_bias>=n FROM node_stats WHERE graph_id=? AND run_id=? AND " +
                std::string(profile::kSoundNodeTimes) + " ORDER BY phase, timing_mode");
        rows.bind_all(id.graph, id.run);
        while (rows.step()) {
          const auto mode = static_cast<TimingMode>(rows.integer(1));
          std::string phase = rows.text(0);
          if (tables.empty() || tables.back().timing_mode != mode || tables.back().phase != phase) {
            if (tables.size() == profile::kMaxNodeTables) {
              break;
            }
            tables.push_back({std::move(phase), mode, {}});
            tables.back().nodes.resize(nodes);
          }
          if (const auto node = static_cast<std::uint64_t>(rows.integer(2)); node < nodes) {
            NodeTiming& t = tables.back().nodes[node].emplace();
            profile::read_columns(rows, 3, t.count, t.total_ns, t.min_ns, t.max_ns, t.p50_ns,
                                  t.p95_ns, t.mean_ns, t.stddev_ns, t.below_bias);
          }
        }
        return tables;
      },
      stop);
  std::ranges::stable_sort(result, std::greater(), profile::most_replays);
  return result;
}

std::vector<HistogramBucket> read_node_histogram(const std::filesystem::path& path, CaptureId id,
                                                 const std::string& phase, TimingMode mode,
                                                 std::uint32_t node, const std::stop_token& stop) {
  return profile::read_snapshot(
      path, profile::kNodeTables,
      [&](profile::Database& database) {
        std::vector<HistogramBucket> buckets;
        profile::Statement row(database,
                               "SELECT hist FROM node_stats WHERE graph_id=? AND run_id=? AND "
                               "phase=? AND timing_mode=? AND idx=?");
        row.bind_all(id.graph, id.run, phase, static_cast<int>(mode), node);
        while (row.step()) {
          buckets = profile::buckets_of(row.blob(0));
        }
        return buckets;
      },
      stop);
}

std::vector<HistogramBucket> histogram_of(std::span<const std::uint64_t> durations_ns) {
  profile::Histogram histogram;
  histogram.add(durations_ns);
  return profile::buckets_of(histogram.blob());
}

}  // namespace reprise
