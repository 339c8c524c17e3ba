#include "framework/profile/replay_writer.h"

#include <algorithm>
#include <array>

#include "framework/profile/words.h"

namespace reprise::profile {

ReplayWriter::ReplayWriter(Database& database, std::uint64_t step_timing_bytes)
    : database_(database),
      sql_(database),
      retention_(step_timing_bytes),
      add_replay_(
          database,
          insert_into(
              "replays(recording_id,seq,submission,iteration,slot,t_submit_ns,prepare_ns,submit_ns,"
              "wait_ns,device_start_ns,device_ns,phase,state,timing_mode,warm_up,status)")),
      add_times_(database, insert_into("step_timings(replay_id,codec,unit_ns,data)")),
      remove_times_(database, "DELETE FROM step_timings WHERE replay_id=?") {}

void ReplayWriter::add_graph(std::int64_t graph, const ExecutionPlan& plan,
                             std::shared_ptr<const DeviceInfo> device) {
  Graph& g = graphs_[graph];
  if (g.row == 0) {
    g.row = graph;
    g.phase = plan.graph->name;
    g.phase_index = phases_.try_emplace(g.phase, phases_.size()).first->second;
    g.nodes = plan.graph->nodes.size();
    g.steps = plan.steps.size();
    std::vector<bool> has_steps(g.nodes);
    for (std::uint32_t s = 0; s < g.steps; ++s) {
      const std::uint32_t node = plan.steps[s].node;
      if (node < g.nodes) {
        g.parts.push_back({s, node, !has_steps[node]});
        has_steps[node] = true;
      }
    }
  }
  g.device = std::move(device);
}

const ReplayWriter::Graph* ReplayWriter::find(std::int64_t recording) {
  Recording& place = recordings_[static_cast<std::uint64_t>(recording) % kRemembered];
  if (place.graph == nullptr || place.row != recording) {
    const auto row = sql_(
                         "SELECT graph_id FROM recordings WHERE id=? AND run_id=(SELECT max(id) "
                         "FROM runs)")
                         .find(recording);
    const auto graph = graphs_.find(row.value_or(0));
    if (graph == graphs_.end()) {
      return nullptr;
    }
    place = {recording, &graph->second};
  }
  return place.graph;
}

std::optional<std::int64_t> ReplayWriter::graph_of(std::int64_t recording) {
  const Graph* graph = find(recording);
  return graph == nullptr ? std::nullopt : std::optional(graph->row);
}

ReplayWriter::Written ReplayWriter::write(const ReplayRecord& record, std::int64_t recording) {
  const Graph* const found = find(recording);
  if (found == nullptr) {
    return {};
  }
  const Graph& graph = *found;
  try {
    write_row(record, recording, graph);
  } catch (const SqliteError& error) {
    if (!error.refuses_values()) {
      throw;
    }
    return {};
  }
  const std::int64_t row = database_.last_insert_id();
  if (record.step_ticks.empty()) {
    return {row};
  }
  if (record.step_ticks.size() != graph.steps + 1 ||
      !times_.read(record.step_ticks, *graph.device)) {
    return {row, false};
  }
  keep_times(row, record.device_ns.value_or(times_.end_ns()), graph);
  if (!record.warm_up && record.status == ReplayStatus::ran) {
    add_to_stats(graph, record.timing_mode);
  }
  return {row};
}

void ReplayWriter::write_row(const ReplayRecord& r, std::int64_t recording, const Graph& graph) {
  const bool times_itself = graph.device->timestamp_valid_bits != 0;
  const std::string& phase = graph.phase;
  add_replay_.run(recording, r.sequence, r.submission, r.iteration, r.slot, r.submit_time_ns,
                  r.prepare_ns, r.submit_ns, r.wait_ns,
                  times_itself ? r.device_start_ns : std::nullopt,
                  times_itself ? r.device_ns : std::nullopt,
                  phase.empty() ? std::nullopt : std::optional<std::string_view>(phase),
                  r.state.empty() ? std::nullopt : std::optional(blob_of(r.state)),
                  static_cast<int>(r.timing_mode), r.warm_up, static_cast<int>(r.status));
}

void ReplayWriter::keep_times(std::int64_t replay, std::uint64_t duration_ns, const Graph& graph) {
  const std::span<const std::byte> blob = times_.blob();
  const bool keep = retention_.add(replay, graph.phase_index, duration_ns, blob.size());
  for (const std::int64_t removed : retention_.removed()) {
    remove_times_.run(removed);
  }
  if (keep) {
    add_times_.run(replay, 1, times_.unit_ns(), blob);
  }
}

void ReplayWriter::timestamp_bias(std::uint64_t bias_ns) {
  for (auto& [key, stats] : stats_) {
    add_waiting(stats);  // they are compared with the bias that was known
  }
  bias_ns_ = bias_ns;
}

// A node's time is the sum of its steps; without one of them it has none.
void ReplayWriter::add_to_stats(const Graph& graph, TimingMode mode) {
  constexpr std::size_t kMaxWaiting = 32'768;  // times; an eighth of a megabyte
  Stats& stats = stats_[{graph.row, mode}];
  stats.nodes.resize(graph.nodes);
  stats.changed = true;
  if (times_.unit_ns() > 1) {
    add_waiting(stats);
    add_long_times(graph, stats);
    return;
  }
  const std::size_t before = stats.waiting.size();
  stats.waiting.resize(before + graph.nodes, kNoTime);
  std::uint32_t* const node_ns = stats.waiting.data() + before;
  const std::uint32_t* const words = times_.words().data();
  for (const Graph::Part& part : graph.parts) {
    const std::uint32_t ns = words[2 * part.step + 1];
    std::uint32_t& sum = node_ns[part.node];
    if (part.first || ns == kNoTime) {
      sum = ns;
    } else if (sum != kNoTime) {
      sum += ns;
    }
  }
  if (stats.waiting.size() + graph.nodes > kMaxWaiting) {
    add_waiting(stats);
  }
}

void ReplayWriter::add_long_times(const Graph& graph, Stats& stats) {
  std::vector<std::optional<std::uint64_t>> node_ns(graph.nodes);
  for (const Graph::Part& part : graph.parts) {
    const std::optional<std::uint64_t> ns = times_.step(part.step).duration_ns;
    std::optional<std::uint64_t>& sum = node_ns[part.node];
    sum = part.first ? ns : ns && sum ? std::optional(*sum + *ns) : std::nullopt;
  }
  for (std::size_t n = 0; n < graph.nodes; ++n) {
    if (node_ns[n]) {
      stats.nodes[n].add({&*node_ns[n], 1}, bias_ns_.value_or(0));
    }
  }
}

void ReplayWriter::add_waiting(Stats& stats) {
  const std::size_t nodes = stats.nodes.size();
  const std::size_t replays = nodes == 0 ? 0 : stats.waiting.size() / nodes;
  // Nodes of one cache line at a time.
  constexpr std::size_t kTogether = 16;
  for (std::size_t first = 0; first < nodes; first += kTogether) {
    const std::size_t some = std::min(kTogether, nodes - first);
    times_of_nodes_.resize(kTogether * replays);
    std::array<std::size_t, kTogether> counts{};
    for (std::size_t r = 0; r < replays; ++r) {
      const std::uint32_t* const from = stats.waiting.data() + r * nodes + first;
      for (std::size_t n = 0; n < some; ++n) {
        times_of_nodes_[n * replays + counts[n]] = from[n];
        counts[n] += from[n] == kNoTime ? 0 : 1;
      }
    }
    for (std::size_t n = 0; n < some; ++n) {
      if (counts[n] > 0) {
        stats.nodes[first + n].add(std::span(times_of_nodes_).subspan(n * replays, counts[n]),
                                   bias_ns_.value_or(0));
      }
    }
  }
  stats.waiting.clear();
}

void ReplayWriter::write_stats(std::int64_t run) {
  for (auto& [key, stats] : stats_) {
    if (!std::exchange(stats.changed, false)) {
      continue;
    }
    const Graph& graph = graphs_.at(key.first);
    add_waiting(stats);
    for (std::size_t n = 0; n < stats.nodes.size(); ++n) {
      const NodeStats& s = stats.nodes[n];
      if (s.count() > 0) {
        sql_.replace(
            "node_stats(graph_id,run_id,phase,timing_mode,idx,n,sum_ns,min_ns,max_ns,p50_ns,p90_ns,"
            "p95_ns,p99_ns,mean_ns,stddev_ns,last_ns,below_bias,hist)",
            graph.row, run, graph.phase, static_cast<int>(key.second), n, s.count(), s.sum_ns(),
            s.min_ns(), s.max_ns(), s.quantile_ns(0.5), s.quantile_ns(0.9), s.quantile_ns(0.95),
            s.quantile_ns(0.99), s.mean_ns(), s.stddev_ns(), s.last_ns(), s.below_bias(),
            std::span<const std::byte>(s.histogram().blob()));
      }
    }
  }
}

}  // namespace reprise::profile
