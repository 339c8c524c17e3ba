#include "framework/profile/tensor_tables.h"

#include <bit>
#include <cmath>

#include "framework/profile/profile_snapshot.h"
#include "framework/profile/snapshot_hash.h"
#include "framework/profile/tensor_file.h"
#include "framework/profile/tensor_place.h"

namespace reprise {
namespace {

using profile::count;
using profile::Database;
using profile::Statement;

constexpr std::array kTables{"replays",      "recordings", "nodes",      "tensors",
                             "tensor_stats", "snapshots",  "comparisons"};
constexpr std::int64_t kFirstVersion = 2;  // with rows of tensors

/// Calls f(database) with a file that can have such rows.
template <class F>
void read(const std::filesystem::path& path, const std::stop_token& stop, F&& f) {
  profile::read_snapshot(
      path, kTables,
      [&](Database& database) {
        if (database.integer("PRAGMA user_version") >= kFirstVersion) {
          f(database);
        }
      },
      stop);
}

// Of a row t of a table of tensors: the columns of WatchedTensor.
constexpr std::string_view kTensorColumns =
    "t.replay_id, t.graph_id, t.tensor_idx, t.node_idx, r.seq, x.name, n.op";
constexpr int kTensorColumnCount = 7;
// Of such a row: its node and tensor are there.
constexpr std::string_view kOfTheGraph =
    "EXISTS(SELECT 1 FROM nodes n WHERE n.graph_id=t.graph_id AND n.idx=t.node_idx) AND "
    "EXISTS(SELECT 1 FROM tensors x WHERE x.graph_id=t.graph_id AND x.idx=t.tensor_idx)";

std::string from(const char* table, const char* more) {
  return std::string(" FROM ") + table +
         " t JOIN replays r ON r.id=t.replay_id LEFT JOIN tensors x ON x.graph_id=t.graph_id AND "
         "x.idx=t.tensor_idx LEFT JOIN nodes n ON n.graph_id=t.graph_id AND n.idx=t.node_idx WHERE "
         "(?1 IS NULL OR t.graph_id=?1) AND (?2 IS NULL OR t.replay_id=?2) AND (?3 IS NULL OR "
         "t.tensor_idx=?3) AND (?4 IS NULL OR EXISTS(SELECT 1 FROM recordings c WHERE "
         "c.id=r.recording_id AND c.run_id=?4)) ORDER BY t.replay_id DESC, t.node_idx DESC" +
         more + " LIMIT ?5";
}

void bind(Statement& rows, const TensorQuery& query) {
  rows.bind_all(query.graph, query.replay, query.tensor, query.run, query.limit);
}

WatchedTensor tensor_of(const Statement& row) {
  return {row.integer(0), row.integer(1), row.integer(2), row.integer(3),
          count(row, 4),  row.text(5),    row.text(6)};
}

std::optional<double> real(const Statement& row, int column) {
  return row.null(column) || !std::isfinite(row.real(column)) ? std::nullopt
                                                              : std::optional(row.real(column));
}

std::optional<TensorStatsRow::Histogram> histogram_of(std::span<const std::byte> blob) {
  TensorStatsRow::Histogram histogram{};
  if (blob.size() != histogram.size() * 4) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < blob.size(); ++i) {
    histogram[i / 4] |= std::to_integer<std::uint32_t>(blob[i]) << (i % 4 * 8);
  }
  return histogram;
}

}  // namespace

std::vector<TensorStatsRow> read_tensor_stats(const std::filesystem::path& path,
                                              const TensorQuery& query,
                                              const std::stop_token& stop) {
  std::vector<TensorStatsRow> stats;
  read(path, stop, [&](Database& database) {
    stats.clear();
    Statement rows(database, "SELECT " + std::string(kTensorColumns) +
                                 ", t.n, t.nan_count, t.inf_count, t.zero_count, t.min, t.max, "
                                 "t.mean, t.rms, t.hist" +
                                 from("tensor_stats", ", t.tensor_idx DESC"));
    bind(rows, query);
    while (rows.step()) {
      const int c = kTensorColumnCount;
      stats.push_back({tensor_of(rows), count(rows, c), count(rows, c + 1), count(rows, c + 2),
                       count(rows, c + 3), real(rows, c + 4), real(rows, c + 5), real(rows, c + 6),
                       real(rows, c + 7), histogram_of(rows.blob(c + 8))});
    }
  });
  return {stats.rbegin(), stats.rend()};
}

std::vector<TensorSums> read_tensor_sums(const std::filesystem::path& path, std::int64_t run,
                                         std::int64_t graph, const std::stop_token& stop) {
  std::vector<TensorSums> sums;
  read(path, stop, [&](Database& database) {
    sums.clear();
    // total() and not sum(): what a damaged file adds up to is no reason to fail.
    Statement rows(
        database,
        "SELECT tensor_idx, min(node_idx), count(*), CAST(total(n) AS INTEGER), "
        "CAST(total(nan_count) AS INTEGER), CAST(total(inf_count) AS INTEGER), "
        "CAST(total(zero_count) AS INTEGER), min(min), max(max), "
        "total(mean*finite)/nullif(total(CASE WHEN mean IS NULL THEN 0 ELSE finite END),0), "
        "min(CASE WHEN nan_count>0 OR inf_count>0 THEN replay_id END) "
        "FROM (SELECT t.*, max(t.n-t.nan_count-t.inf_count,0) AS finite FROM tensor_stats t JOIN "
        "replays r ON r.id=t.replay_id JOIN recordings c ON c.id=r.recording_id WHERE "
        "t.graph_id=?1 AND c.graph_id=?1 AND c.run_id=?2 AND " +
            std::string(kOfTheGraph) + ") GROUP BY tensor_idx ORDER BY 2, 1");
    rows.bind_all(graph, run);
    while (rows.step()) {
      sums.push_back({rows.integer(0), rows.integer(1), count(rows, 2), count(rows, 3),
                      count(rows, 4), count(rows, 5), count(rows, 6), real(rows, 7), real(rows, 8),
                      real(rows, 9),
                      rows.null(10) ? std::nullopt : std::optional(rows.integer(10))});
    }
  });
  return sums;
}

std::vector<SnapshotRow> read_snapshots(const std::filesystem::path& path, const TensorQuery& query,
                                        const std::stop_token& stop) {
  std::vector<SnapshotRow> snapshots;
  read(path, stop, [&](Database& database) {
    snapshots.clear();
    Statement rows(database, "SELECT " + std::string(kTensorColumns) +
                                 ", t.id, t.dtype, t.shape_json, t.content_hash, t.nbytes, "
                                 "t.external_path" +
                                 from("snapshots", ", t.id DESC"));
    bind(rows, query);
    while (rows.step()) {
      const int c = kTensorColumnCount;
      snapshots.push_back({rows.integer(c), tensor_of(rows), rows.text(c + 1), rows.text(c + 2),
                           rows.text(c + 3), count(rows, c + 4), rows.text(c + 5)});
    }
  });
  return {snapshots.rbegin(), snapshots.rend()};
}

LostTensorRows count_lost_tensor_rows(const std::filesystem::path& path, std::int64_t graph,
                                      const std::stop_token& stop) {
  LostTensorRows lost;
  read(path, stop, [&](Database& database) {
    const auto rows_without = [&](const char* table, const std::string& what) {
      Statement rows(database, "SELECT count(*) FROM " + std::string(table) +
                                   " t WHERE graph_id=? AND NOT (" + what + ")");
      return static_cast<std::uint64_t>(rows.find(graph).value_or(0));
    };
    const std::string replay =
        "EXISTS(SELECT 1 FROM replays r JOIN recordings c ON c.id=r.recording_id WHERE "
        "r.id=t.replay_id AND c.graph_id=t.graph_id)";
    lost = {rows_without("tensor_stats", replay + " AND " + std::string(kOfTheGraph)),
            rows_without("snapshots", replay)};
  });
  return lost;
}

std::vector<std::byte> read_snapshot_bytes(const std::filesystem::path& path, std::int64_t id,
                                           const std::stop_token& stop) {
  std::optional<std::vector<std::byte>> inside;
  std::string dtype, shape, hash, place;
  bool found = false;
  read(path, stop, [&](Database& database) {
    Statement rows(database,
                   "SELECT dtype, shape_json, content_hash, external_path, data FROM snapshots "
                   "WHERE id=?");
    rows.bind_all(id);
    found = rows.step();
    if (found) {
      dtype = rows.text(0);
      shape = rows.text(1);
      hash = rows.text(2);
      place = rows.text(3);
      const std::span<const std::byte> data = rows.blob(4);
      inside = rows.null(3) ? std::optional(std::vector(data.begin(), data.end())) : std::nullopt;
    }
  });
  const std::string what =
      "The snapshot (" + std::to_string(id) + ") of the profiling database (" + path.string() + ")";
  if (!found) {
    throw_invalid_argument(what + " is not there; the table snapshots has those there are.");
  }
  if (!inside && !profile::is_tensor_place(place, hash)) {
    throw Error(ErrorCode::io, what + " is said to lie at (" + place +
                                   "), which is no place where a writer puts one.");
  }
  std::vector<std::byte> bytes =
      inside ? std::move(*inside) : profile::read_tensor_file(path.parent_path() / place);
  if (profile::snapshot_hash(dtype, shape, bytes) != hash) {
    throw Error(ErrorCode::io, what + " is damaged: its contents do not have the hash (" + hash +
                                   ") that was stored with them.");
  }
  return bytes;
}

std::vector<ComparisonRow> read_comparisons(const std::filesystem::path& path,
                                            const TensorQuery& query, const std::stop_token& stop) {
  std::vector<ComparisonRow> comparisons;
  read(path, stop, [&](Database& database) {
    comparisons.clear();
    Statement rows(
        database,
        "SELECT run_id, graph_id, node_idx, tensor_idx, name, reference, max_abs, "
        "max_rel, rmse, cosine, first_bad_index, input_differs, tolerance, pass FROM "
        "comparisons WHERE (?1 IS NULL OR graph_id=?1) AND (?2 IS NULL OR run_id=?2) AND "
        "(?3 IS NULL OR tensor_idx=?3) ORDER BY id DESC LIMIT ?4");
    rows.bind_all(query.graph, query.run, query.tensor, query.limit);
    const auto id = [&](int column) {
      return rows.null(column) ? std::nullopt : std::optional(rows.integer(column));
    };
    while (rows.step()) {
      comparisons.push_back({rows.integer(0), rows.integer(1), id(2), id(3), rows.text(4),
                             rows.text(5), real(rows, 6), real(rows, 7), real(rows, 8),
                             real(rows, 9), id(10),
                             rows.null(11) ? std::nullopt : std::optional(rows.integer(11) != 0),
                             rows.real(12), rows.integer(13) != 0});
    }
  });
  return {comparisons.rbegin(), comparisons.rend()};
}

}  // namespace reprise
