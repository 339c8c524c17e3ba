#include "debugger/model/document_reads.h"

#include <algorithm>

#include "debugger/model/name_problems.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMaxRangeBytes = std::size_t{64} << 20U;  // of step times read for a range
constexpr std::size_t kStepBytes = 8;

}  // namespace

LoadedCapture load_capture(const std::filesystem::path& path, const CaptureId& id,
                           const std::stop_token& stop) {
  LoadedCapture loaded;
  Capture capture = read_capture(path, id, stop);
  const std::vector<FileProblem> of_names = name_problems(capture);
  capture.problems.insert(capture.problems.end(), of_names.begin(), of_names.end());
  loaded.capture = std::make_shared<const Capture>(std::move(capture));
  read_new_replays(path, id, loaded.replays, stop);
  loaded.timings = read_node_timings(path, id, stop);
  return loaded;
}

DisplayedCapture displayed_capture(const Capture* capture, const ReplayTable& replays) {
  DisplayedCapture shown;
  if (capture == nullptr) {
    return shown;
  }
  shown.summary = capture->summary;
  shown.replays = replays.rows.size();
  shown.last.state_words = replays.state_words;
  if (!replays.rows.empty()) {
    shown.last.rows.push_back(replays.rows.back());
    shown.last.state.resize(replays.state_words);
  }
  return shown;
}

Refresh refresh(const std::filesystem::path& path, const DisplayedCapture& shown,
                const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  Refresh found;
  found.captures = read_captures(path, stop);
  if (const auto& old = shown.summary) {
    const auto is_same = [&](const CaptureSummary& capture) {
      return capture.id == old->id && capture.run_uuid == old->run_uuid &&
             capture.content_hash == old->content_hash && capture.replays >= shown.replays;
    };
    found.replaced = std::ranges::none_of(found.captures, is_same);
    if (!found.replaced) {
      found.new_replays = shown.last;
      ReplayTable& replays = found.new_replays;
      const auto known = static_cast<std::ptrdiff_t>(replays.rows.size());
      const auto words = known * static_cast<std::ptrdiff_t>(replays.state_words);
      read_new_replays(path, old->id, replays, stop);
      replays.rows.erase(replays.rows.begin(), replays.rows.begin() + known);
      replays.state.erase(replays.state.begin(), replays.state.begin() + words);
      if (shown.read_timings) {
        found.timings = read_node_timings(path, old->id, stop);
      }
    }
  }
  found.took = std::chrono::steady_clock::now() - start;
  return found;
}

bool counts(const ReplayRow& row) { return !row.warm_up && row.status == 0; }

std::vector<std::int64_t> timed_replays(const ReplayTable& table, std::optional<ReplayRange> range,
                                        const TimingSource& source) {
  const std::size_t size = table.rows.size();
  const std::size_t first = range ? range->first : 0;
  const std::size_t end = range ? std::min(range->last, size) + 1 : size;
  std::vector<std::int64_t> ids;
  for (std::size_t r = first; r < std::min(end, size); ++r) {
    const ReplayRow& row = table.rows[r];
    if (counts(row) && row.phase == source.phase && row.timing_mode == source.mode) {
      ids.push_back(row.id);
    }
  }
  return ids;
}

std::optional<std::uint64_t> node_time(const Capture& capture, const Capture::Node& node,
                                       std::span<const CapturedStepTime> times) {
  std::uint64_t sum = 0;
  for (std::uint32_t s = 0; s < node.steps.count; ++s) {
    const CapturedStepTime& time = times[capture.step_order[node.steps.first + s]];
    if (!time.duration_ns) {
      return std::nullopt;
    }
    sum += *time.duration_ns;
  }
  return node.steps.count == 0 ? std::nullopt : std::optional(sum);
}

std::size_t most_replays(const Capture& capture) {
  const std::size_t of_one = kStepBytes * std::max(capture.steps.size(), capture.nodes.size()) + 1;
  return std::max<std::size_t>(1, kMaxRangeBytes / of_one);
}

void ReplayTally::update(const ReplayTable& table) {
  for (; rows < table.rows.size(); ++rows) {
    const ReplayRow& row = table.rows[rows];
    counts.add(row);
    if (!debugger::counts(row)) {
      continue;
    }
    const bool by_node =
        row.timing_mode == TimingMode::node || row.timing_mode == TimingMode::node_serialised;
    const auto is_of = [&](const TimingSource& source) {
      return source.mode == row.timing_mode && source.phase == row.phase;
    };
    if (by_node && std::none_of(sources.begin(), sources.end(), is_of)) {
      sources.push_back({row.phase, row.timing_mode});
    }
  }
}

RangeTimes read_range(const std::filesystem::path& path, const RangeKey& key,
                      const std::stop_token& stop) {
  const Capture& capture = *key.capture;
  const std::size_t nodes = capture.nodes.size();
  std::vector<std::vector<std::uint64_t>> durations(nodes);
  std::uint64_t read = 0;
  read_step_times(
      path, key.replays, capture.steps.size(),
      [&](std::size_t, std::span<const CapturedStepTime> times) {
        ++read;
        for (std::size_t n = 0; n < nodes; ++n) {
          if (const auto time = node_time(capture, capture.nodes[n], times)) {
            durations[n].push_back(*time);
          }
        }
      },
      most_replays(capture), stop);
  CaptureStatistics statistics =
      statistics_of(durations, capture.summary.timestamp_bias_ns.value_or(0));
  statistics.replays = read;
  statistics.source = key.source;
  return {key.range, key.table_size, std::move(durations), std::move(statistics)};
}

std::vector<CapturedStepTime> read_one_replay(const std::filesystem::path& path,
                                              const StepTimesKey& key,
                                              const std::stop_token& stop) {
  std::vector<CapturedStepTime> found;
  read_step_times(
      path, std::span(&key.replay, 1), key.steps,
      [&](std::size_t, std::span<const CapturedStepTime> times) {
        found.assign(times.begin(), times.end());
      },
      1, stop);
  return found;
}

std::vector<HistogramBucket> read_histogram(const std::filesystem::path& path,
                                            const HistogramKey& key, const std::stop_token& stop) {
  return read_node_histogram(path, key.capture, key.source.phase, key.source.mode, key.node, stop);
}

}  // namespace reprise::debugger
