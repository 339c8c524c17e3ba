#include "debugger/model/tensor_statistics.h"

#include <algorithm>
#include <utility>

#include "debugger/model/sql_values.h"

namespace reprise::debugger {
namespace {

/// Keeps what lies in the capture, node and tensor. An element stands for so many rows of the file.
template <class Row, class Lies, class Rows>
void keep(TensorStatistics& numbers, const char* table, std::vector<Row>& all, Lies lies,
          Rows rows_of) {
  std::uint64_t rows = 0;
  std::erase_if(all, [&](const Row& row) {
    const bool lost = !lies(row);
    rows += lost ? rows_of(row) : 0;
    return lost;
  });
  note_left_out(numbers.problems, rows, table, "the graph has no such node or tensor");
}

template <class Index>
bool below(const Index& index, std::size_t size) {
  return std::cmp_greater_equal(index, 0) && std::cmp_less(index, size);
}

std::vector<std::int64_t> not_finite_replays(const std::filesystem::path& path, CaptureId id,
                                             const std::stop_token& stop) {
  const SqlResult found = run_sql(
      path,
      "SELECT DISTINCT t.replay_id FROM tensor_stats t JOIN replays r ON r.id = t.replay_id JOIN "
      "recordings c ON c.id = r.recording_id WHERE c.run_id = " +
          std::to_string(id.run) + " AND c.graph_id = " + std::to_string(id.graph) +
          " AND (t.nan_count > 0 OR t.inf_count > 0) ORDER BY 1",
      {.rows = 1'000'000}, stop);
  std::vector<std::int64_t> replays;
  for (const auto& row : found.rows) {
    if (const auto replay = whole_of(row[0])) {
      replays.push_back(*replay);
    }
  }
  return replays;
}

/// Among snapshots that were read.
std::vector<KeptNotFinite> kept_not_finite(const std::filesystem::path& path, CaptureId id,
                                           const std::vector<SnapshotRow>& snapshots,
                                           const std::stop_token& stop) {
  if (snapshots.empty()) {
    return {};
  }
  const std::int64_t first = std::ranges::min_element(snapshots, {}, &SnapshotRow::id)->id;
  const SqlResult found =
      run_sql(path,
              "SELECT t.node_idx, t.tensor_idx, min(t.replay_id) FROM tensor_stats t JOIN "
              "snapshots k ON k.replay_id = t.replay_id AND k.tensor_idx = t.tensor_idx JOIN "
              "replays r ON r.id = t.replay_id JOIN recordings c ON c.id = r.recording_id WHERE "
              "c.run_id = " +
                  std::to_string(id.run) + " AND c.graph_id = " + std::to_string(id.graph) +
                  " AND k.id >= " + std::to_string(first) +
                  " AND (t.nan_count > 0 OR t.inf_count > 0) GROUP BY 1, 2 ORDER BY 1, 2",
              {.rows = snapshots.size()}, stop);
  std::vector<KeptNotFinite> kept;
  for (const auto& row : found.rows) {
    const auto node = whole_of(row[0]), tensor = whole_of(row[1]), replay = whole_of(row[2]);
    if (node && tensor && replay) {
      kept.push_back({*node, *tensor, *replay});
    }
  }
  return kept;
}

std::optional<ComparedGraph> compared_elsewhere(const std::filesystem::path& path,
                                                const std::stop_token& stop) {
  const SqlResult found =
      run_sql(path,
              "SELECT p.run_id, p.graph_id, count(*), g.name FROM comparisons p JOIN graphs g ON "
              "g.id = p.graph_id GROUP BY 1, 2 ORDER BY 3 DESC, 1 DESC, 2 LIMIT 1",
              {}, stop);
  const auto whole = [&](std::size_t column) {
    return found.rows.empty() ? std::nullopt : whole_of(found.rows[0][column]);
  };
  if (!whole(0) || !whole(1) || !whole(2)) {
    return std::nullopt;
  }
  return ComparedGraph{{*whole(0), *whole(1)},
                       text_or_empty(found.rows[0][3]),
                       static_cast<std::uint64_t>(*whole(2))};
}

}  // namespace

const TensorSums* TensorStatistics::sums_of(std::uint32_t tensor) const {
  const auto found = std::ranges::lower_bound(sums, std::int64_t{tensor}, {}, &TensorSums::tensor);
  return found == sums.end() || found->tensor != tensor ? nullptr : &*found;
}

const SnapshotRow* TensorStatistics::snapshot_of(std::uint32_t tensor,
                                                 std::optional<std::int64_t> replay) const {
  const auto found = std::find_if(snapshots.rbegin(), snapshots.rend(), [&](const auto& s) {
    return s.of.tensor == tensor && (!replay || s.of.replay == *replay);
  });
  return found == snapshots.rend() ? nullptr : &*found;
}

TensorStatistics read_numbers(const std::filesystem::path& path, const Capture& capture,
                              const std::stop_token& stop) {
  const CaptureId id = capture.summary.id;
  const TensorQuery query{.graph = id.graph, .run = id.run};
  TensorStatistics numbers{read_tensor_sums(path, id.run, id.graph, stop),
                           read_snapshots(path, query, stop),
                           read_comparisons(path, query, stop),
                           {},
                           {},
                           {},
                           {}};
  const auto bad = [](const TensorSums& sums) { return sums.nan > 0 || sums.infinite > 0; };
  if (std::ranges::any_of(numbers.sums, bad)) {
    numbers.not_finite_replays = not_finite_replays(path, id, stop);
    numbers.kept_not_finite = kept_not_finite(path, id, numbers.snapshots, stop);
  }
  if (numbers.comparisons.empty()) {
    numbers.elsewhere = compared_elsewhere(path, stop);
  }
  const std::size_t nodes = capture.nodes.size(), tensors = capture.tensors.size();
  const auto one = [](const auto&) { return std::uint64_t{1}; };
  keep(
      numbers, "tensor_stats", numbers.sums,
      [&](const TensorSums& row) { return below(row.node, nodes) && below(row.tensor, tensors); },
      [](const TensorSums& row) { return row.replays; });
  keep(
      numbers, "snapshots", numbers.snapshots,
      [&](const SnapshotRow& row) {
        return below(row.of.node, nodes) && below(row.of.tensor, tensors);
      },
      one);
  keep(
      numbers, "comparisons", numbers.comparisons,
      [&](const ComparisonRow& row) {
        return below(row.node.value_or(0), nodes) && below(row.tensor.value_or(0), tensors);
      },
      one);
  std::ranges::sort(numbers.sums, {}, &TensorSums::tensor);
  const LostTensorRows lost = count_lost_tensor_rows(path, id.graph, stop);
  note_left_out(numbers.problems, lost.statistics, "tensor_stats",
                "the file has no such replay, node or tensor of the graph");
  note_left_out(numbers.problems, lost.snapshots, "snapshots",
                "the file has no such replay of the graph");
  return numbers;
}

std::vector<bool> nodes_not_finite(const Capture& capture, const TensorStatistics& numbers) {
  std::vector<bool> found(capture.nodes.size(), false);
  for (const TensorSums& sums : numbers.sums) {
    if (sums.nan > 0 || sums.infinite > 0) {
      found[static_cast<std::size_t>(sums.node)] = true;
    }
  }
  return found;
}

std::vector<std::uint32_t> results_of(const Capture& capture, std::uint32_t node) {
  std::vector<std::uint32_t> results;
  const Capture::Range range = capture.nodes[node].operands;
  for (const Capture::Operand& operand :
       std::span(capture.operands).subspan(range.first, range.count)) {
    if (operand.writes &&
        std::find(results.begin(), results.end(), operand.tensor) == results.end()) {
      results.push_back(operand.tensor);
    }
  }
  return results;
}

std::vector<TensorStatsRow> read_replays_of_tensor(const std::filesystem::path& path,
                                                   const TensorKey& key,
                                                   const std::stop_token& stop) {
  const CaptureId id = key.capture->summary.id;
  return read_tensor_stats(path, {.graph = id.graph, .run = id.run, .tensor = key.tensor}, stop);
}

TensorValues read_contents(const std::filesystem::path& path, const SnapshotKey& key,
                           const std::stop_token& stop) {
  return decode_values(key.row.dtype, key.row.shape_json,
                       read_snapshot_bytes(path, key.row.id, stop));
}

std::string read_first_not_finite(const std::filesystem::path& path, const SnapshotKey& key,
                                  const std::stop_token& stop) {
  const TensorValues values = read_contents(path, key, stop);
  const auto first = first_not_finite(values);
  return first ? value_text(values.values[*first]) + " at " + element_text(values.dims, *first)
               : std::string();
}

}  // namespace reprise::debugger
