#include "debugger/model/bindings.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/sql_values.h"

namespace reprise::debugger {
namespace {

/// The pools of a capture, each of the latest recording that has it. No row says when a graph that
/// no cache held was let go; its arena was freed then. Of one without an arena nobody knows.
std::string bindings_sql(CaptureId id) {
  const std::string run = std::to_string(id.run), graph = std::to_string(id.graph);
  return "WITH latest AS (SELECT q.pool_idx, max(q.recording_id) AS recording FROM recordings l\n"
         "  JOIN recording_pools q ON q.recording_id = l.id WHERE l.run_id = " +
         run + " AND l.graph_id = " + graph +
         " GROUP BY q.pool_idx)\n"
         "SELECT p.pool_idx, b.id, b.name, b.size_bytes, c.t_ns - r.t_start_ns, b.t_free_ns - "
         "r.t_start_ns,\n"
         "  b.t_free_ns < coalesce(c.evicted_t_ns, (SELECT coalesce(a.t_free_ns, r.t_end_ns, "
         "9223372036854775807) FROM recording_pools q JOIN pools o ON o.graph_id = c.graph_id AND "
         "o.idx = q.pool_idx AND o.kind = 'arena' JOIN buffers a ON a.id = q.buffer_id WHERE "
         "q.recording_id = c.id)),\n"
         "  CASE WHEN b.t_free_ns IS NOT NULL THEN (SELECT count(*) FROM replays x WHERE "
         "x.recording_id = c.id AND x.t_submit_ns > b.t_free_ns) END,\n"
         "  CASE WHEN b.t_free_ns IS NOT NULL THEN (SELECT max(n.id) FROM buffers n WHERE "
         "n.run_id = b.run_id AND n.name = b.name AND n.kind = b.kind AND n.t_alloc_ns > "
         "b.t_alloc_ns) END\n"
         "FROM latest JOIN recordings c ON c.id = latest.recording JOIN runs r ON r.id = c.run_id "
         "JOIN recording_pools p ON p.recording_id = c.id AND p.pool_idx = latest.pool_idx LEFT "
         "JOIN buffers b ON b.id = p.buffer_id\n"
         "ORDER BY p.pool_idx";
}

BindingState state_of(const Binding& binding, bool while_used, std::uint64_t planned_bytes) {
  if (binding.replays_after > 0) {
    return BindingState::replayed;
  }
  if (binding.freed_ns && while_used) {
    return BindingState::freed;
  }
  return binding.bytes < planned_bytes ? BindingState::too_small : BindingState::live;
}

}  // namespace

bool is_stale(BindingState state) { return state > BindingState::live; }

Bindings read_bindings(const std::filesystem::path& path, const Capture& capture,
                       const std::stop_token& stop) {
  Bindings bindings;
  bindings.of_pool.resize(capture.pools.size());
  const CaptureId id = capture.summary.id;
  for (const std::vector<SqlValue>& row : run_sql(path, bindings_sql(id), {}, stop).rows) {
    const std::int64_t pool = whole_of(row[0]).value_or(-1);
    if (std::cmp_less(pool, 0) || std::cmp_greater_equal(pool, capture.pools.size())) {
      ++bindings.left_out;
      continue;
    }
    Binding& binding = bindings.of_pool[static_cast<std::size_t>(pool)];
    const std::optional<std::int64_t> buffer = whole_of(row[1]);
    if (!buffer) {
      continue;
    }
    const auto count = [&](std::size_t column) {
      return static_cast<std::uint64_t>(
          std::max<std::int64_t>(whole_of(row[column]).value_or(0), 0));
    };
    binding.buffer = *buffer;
    binding.name = text_or_empty(row[2]);
    binding.bytes = count(3);
    binding.recorded_ns = whole_of(row[4]).value_or(0);
    binding.freed_ns = whole_of(row[5]);
    binding.replays_after = count(7);
    binding.successor = binding.freed_ns ? whole_of(row[8]) : std::nullopt;
    binding.state = state_of(binding, whole_of(row[6]).value_or(0) != 0,
                             capture.pools[static_cast<std::size_t>(pool)].bytes);
  }
  const SqlResult stale =
      run_sql(path,
              "SELECT stale_reason FROM recordings WHERE stale_reason IS NOT NULL AND run_id = " +
                  std::to_string(id.run) + " AND graph_id = " + std::to_string(id.graph) +
                  " ORDER BY id DESC LIMIT 1",
              {}, stop);
  bindings.stale_reason = stale.rows.empty() ? "" : text_or_empty(stale.rows[0][0]);
  return bindings;
}

std::string binding_text(const Binding& binding) {
  if (binding.state == BindingState::unknown) {
    return "The file does not say which buffer it is.";
  }
  std::string said = "recorded with buffer " + std::to_string(binding.buffer) +
                     (binding.name.empty() ? "" : " (" + binding.name + ")");
  if (binding.state == BindingState::too_small) {
    return said + ", which has " + bytes_text(binding.bytes) + ": less than the plan takes";
  }
  if (binding.state == BindingState::live) {
    return said;
  }
  // Wraps and does not overflow: a file may say anything.
  const auto after = static_cast<std::int64_t>(static_cast<std::uint64_t>(*binding.freed_ns) -
                                               static_cast<std::uint64_t>(binding.recorded_ns));
  said += after < 0 ? ", which was freed before"
                    : ", freed " + duration_text(static_cast<std::uint64_t>(after)) + " after it";
  if (binding.replays_after > 0) {
    said += ", used by " + count_text(binding.replays_after) + " replays since";
  }
  return binding.successor
             ? said + "; buffer " + std::to_string(*binding.successor) + " has its name now"
             : said;
}

std::vector<bool> nodes_with_stale_bindings(const Capture& capture, const Bindings& bindings) {
  std::vector<bool> nodes(capture.nodes.size(), false);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Capture::Range range = capture.nodes[n].operands;
    for (const Capture::Operand& operand :
         std::span(capture.operands).subspan(range.first, range.count)) {
      const auto pool = capture.tensors[operand.tensor].pool;
      nodes[n] = nodes[n] || (pool && is_stale(bindings.of_pool[*pool].state));
    }
  }
  return nodes;
}

}  // namespace reprise::debugger
