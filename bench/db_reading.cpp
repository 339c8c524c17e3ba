#include <optional>

#include "bench/clock.h"
#include "bench/db_parts.h"
#include "bench/samples.h"
#include "bench/synthetic_replays.h"
#include "bench/temporary_profile.h"
#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_reader.h"

namespace reprise::bench {
namespace {

/// The two quantiles of all step times of each node, out of the packed times.
double raw_quantiles(const std::filesystem::path& path, const Capture& capture,
                     const std::vector<std::int64_t>& replays) {
  std::vector<std::vector<std::uint64_t>> nodes(capture.nodes.size());
  for (std::vector<std::uint64_t>& ns : nodes) {
    ns.reserve(replays.size());
  }
  read_step_times(path, replays, capture.steps.size(),
                  [&](std::size_t, std::span<const CapturedStepTime> times) {
                    for (std::size_t s = 0; s < times.size(); ++s) {
                      nodes[*capture.steps[s].node].push_back(times[s].duration_ns.value_or(0));
                    }
                  });
  double sum = 0;
  for (std::vector<std::uint64_t>& ns : nodes) {
    for (const double part : {0.5, 0.95}) {
      const auto at =
          ns.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(ns.size() - 1));
      std::ranges::nth_element(ns, at);
      sum += static_cast<double>(*at);
    }
  }
  return sum;
}

nlohmann::ordered_json measure_quantiles(const DbArguments& a) {
  constexpr std::size_t kNodes = 1'000, kReplays = 1'000;  // as many as all of are kept
  const TemporaryProfile profile;
  SyntheticReplays replays(profile.path, kNodes);
  replays.write(kReplays, TimingMode::node);
  const CaptureId id = read_captures(profile.path).at(0).id;
  const Capture capture = read_capture(profile.path, id);
  Samples samples;
  for (long long r = 0; r <= a.reps; ++r) {
    samples.add("stats", ms_of([&] {
                  if (read_node_timings(profile.path, id).at(0).nodes.size() != kNodes) {
                    throw std::runtime_error("The statistics lack nodes.");
                  }
                }));
    samples.add("raw", ms_of([&] {
                  ReplayTable table;
                  read_new_replays(profile.path, id, table);
                  std::vector<std::int64_t> ids;
                  for (const ReplayRow& row : table.rows) {
                    ids.push_back(row.id);
                  }
                  if (raw_quantiles(profile.path, capture, ids) <= 0) {
                    throw std::runtime_error("The file has no step times.");
                  }
                }));
    if (r == 0) {  // warms up
      samples.clear();
    }
  }
  return {{"timings", kNodes * kReplays},
          {"statistics_ms", samples.median("stats")},
          {"packed_times_ms", samples.median("raw")}};
}

nlohmann::ordered_json measure_list(const DbArguments& a) {
  const TemporaryProfile profile;
  {
    const auto sink = open_profile(profile.path, {});
    sink->device(synthetic_device());
    for (long long g = 0; g < a.graphs; ++g) {
      RecordingRecord recording;
      recording.id = sink->next_id();
      recording.plan = synthetic_graph(15, "graph " + std::to_string(g));
      ReplayRecord replay;
      replay.recording = recording.id;
      sink->send(std::move(recording));
      sink->replay(replay);
      if (g % 256 == 255) {  // more would not fit the queue
        sink->flush();
      }
    }
  }
  Samples samples;
  for (long long r = 0; r <= a.reps; ++r) {
    samples.add("info", ms_of([&] {
                  if (std::cmp_not_equal(read_profile_info(profile.path).graphs.size(), a.graphs)) {
                    throw std::runtime_error("The list lacks graphs.");
                  }
                }));
    samples.add("captures", ms_of([&] { read_captures(profile.path); }));
    if (r == 0) {  // warms up
      samples.clear();
    }
  }
  return {{"graphs", a.graphs},
          {"info_ms", samples.median("info")},
          {"captures_ms", samples.median("captures")}};
}

}  // namespace

nlohmann::ordered_json measure_reading(const DbArguments& a) {
  return {{"quantiles", measure_quantiles(a)}, {"list", measure_list(a)}};
}

}  // namespace reprise::bench
