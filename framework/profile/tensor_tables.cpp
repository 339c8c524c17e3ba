#include "framework/profile/tensor_tables.h"

#include <algorithm>
#include <array>

#include "framework/profile/profile_snapshot.h"
#include "framework/profile/snapshot_hash.h"
#include "framework/profile/tensor_file.h"
#include "framework/profile/tensor_place.h"
#include "framework/profile/words.h"

namespace reprise {
namespace {

using profile::Database;
using profile::read_columns;
using profile::read_rows;
using profile::Statement;

constexpr std::array kTables{"replays",      "recordings", "nodes",      "tensors",
                             "tensor_stats", "snapshots",  "comparisons"};
constexpr std::int64_t kFirstVersion = 2;  // with rows of tensors

/// Returns read(database), or nothing for a file that cannot have such rows.
template <class Read>
auto read_snapshot(const std::filesystem::path& path, const std::stop_token& stop, Read&& read) {
  return profile::read_snapshot(
      path, kTables,
      [&](Database& database) {
        return database.integer("PRAGMA user_version") >= kFirstVersion
                   ? read(database)
                   : std::invoke_result_t<Read, Database&>();
      },
      stop);
}

// The number of columns of WatchedTensor.
constexpr int kTensorColumns = 7;
// Of such a row: its node and tensor are there.
constexpr std::string_view kOfTheGraph =
    "EXISTS(SELECT 1 FROM nodes n WHERE n.graph_id=t.graph_id AND n.idx=t.node_idx) AND "
    "EXISTS(SELECT 1 FROM tensors x WHERE x.graph_id=t.graph_id AND x.idx=t.tensor_idx)";

/// Returns the latest rows of a table that match, in the order in which they were made. `columns`
/// come after those of WatchedTensor, and `set` reads them.
template <class Row, class Set>
std::vector<Row> read_watched(const std::filesystem::path& path, const TensorQuery& query,
                              const std::stop_token& stop, const std::string& columns,
                              const std::string& table, const std::string& last, Set&& set) {
  auto rows = read_snapshot(path, stop, [&](Database& database) {
    return read_rows<Row>(
        database,
        "SELECT t.replay_id, t.graph_id, t.tensor_idx, t.node_idx, r.seq, x.name, n.op, " +
            columns + " FROM " + table +
            " t JOIN replays r ON r.id=t.replay_id LEFT JOIN tensors x ON x.graph_id=t.graph_id "
            "AND x.idx=t.tensor_idx LEFT JOIN nodes n ON n.graph_id=t.graph_id AND "
            "n.idx=t.node_idx WHERE (?1 IS NULL OR t.graph_id=?1) AND (?2 IS NULL OR "
            "t.replay_id=?2) AND (?3 IS NULL OR t.tensor_idx=?3) AND (?4 IS NULL OR EXISTS(SELECT "
            "1 FROM recordings c WHERE c.id=r.recording_id AND c.run_id=?4)) ORDER BY t.replay_id "
            "DESC, t.node_idx DESC, " +
            last + " DESC LIMIT ?5",
        [&](const Statement& row, Row& to) {
          WatchedTensor& of = to.of;
          read_columns(row, 0, of.replay, of.graph, of.tensor, of.node, of.sequence, of.name,
                       of.op);
          set(row, to);
        },
        query.graph, query.replay, query.tensor, query.run, query.limit);
  });
  std::ranges::reverse(rows);
  return rows;
}

std::optional<TensorStatsRow::Histogram> histogram_of(std::span<const std::byte> blob) {
  TensorStatsRow::Histogram histogram{};
  if (blob.size() != histogram.size() * 4) {
    return std::nullopt;
  }
  profile::read_words(blob, histogram);
  return histogram;
}

}  // namespace

std::vector<TensorStatsRow> read_tensor_stats(const std::filesystem::path& path,
                                              const TensorQuery& query,
                                              const std::stop_token& stop) {
  return read_watched<TensorStatsRow>(
      path, query, stop,
      "t.hist, t.n, t.nan_count, t.inf_count, t.zero_count, t.min, t.max, t.mean, t.rms",
      "tensor_stats", "t.tensor_idx", [](const Statement& row, TensorStatsRow& t) {
        t.histogram = histogram_of(row.blob(kTensorColumns));
        read_columns(row, kTensorColumns + 1, t.count, t.nan, t.infinite, t.zero, t.min, t.max,
                     t.mean, t.rms);
      });
}

std::vector<TensorSums> read_tensor_sums(const std::filesystem::path& path, std::int64_t run,
                                         std::int64_t graph, const std::stop_token& stop) {
  return read_snapshot(path, stop, [&](Database& database) {
    // total() and not sum(): what a damaged file adds up to is no reason to fail.
    return read_rows<TensorSums>(
        database,
        "SELECT tensor_idx, min(node_idx), count(*), CAST(total(n) AS INTEGER), "
        "CAST(total(nan_count) AS INTEGER), CAST(total(inf_count) AS INTEGER), "
        "CAST(total(zero_count) AS INTEGER), min(min), max(max), "
        "total(mean*finite)/nullif(total(CASE WHEN mean IS NULL THEN 0 ELSE finite END),0), "
        "min(CASE WHEN nan_count>0 OR inf_count>0 THEN replay_id END) "
        "FROM (SELECT t.*, max(t.n-t.nan_count-t.inf_count,0) AS finite FROM tensor_stats t JOIN "
        "replays r ON r.id=t.replay_id JOIN recordings c ON c.id=r.recording_id WHERE "
        "t.graph_id=?1 AND c.graph_id=?1 AND c.run_id=?2 AND " +
            std::string(kOfTheGraph) + ") GROUP BY tensor_idx ORDER BY 2, 1",
        [](const Statement& row, TensorSums& t) {
          read_columns(row, 0, t.tensor, t.node, t.replays, t.count, t.nan, t.infinite, t.zero,
                       t.min, t.max, t.mean, t.first_not_finite_replay);
        },
        graph, run);
  });
}

std::vector<SnapshotRow> read_snapshots(const std::filesystem::path& path, const TensorQuery& query,
                                        const std::stop_token& stop) {
  return read_watched<SnapshotRow>(
      path, query, stop, "t.id, t.dtype, t.shape_json, t.content_hash, t.nbytes, t.external_path",
      "snapshots", "t.id", [](const Statement& row, SnapshotRow& t) {
        read_columns(row, kTensorColumns, t.id, t.dtype, t.shape_json, t.content_hash, t.bytes,
                     t.beside);
      });
}

LostTensorRows count_lost_tensor_rows(const std::filesystem::path& path, std::int64_t graph,
                                      const std::stop_token& stop) {
  return read_snapshot(path, stop, [&](Database& database) {
    const auto rows_without = [&](const char* table, const std::string& what) {
      return static_cast<std::uint64_t>(
          database.integer("SELECT count(*) FROM " + std::string(table) +
                               " t WHERE graph_id=? AND NOT (" + what + ")",
                           graph));
    };
    const std::string replay =
        "EXISTS(SELECT 1 FROM replays r JOIN recordings c ON c.id=r.recording_id WHERE "
        "r.id=t.replay_id AND c.graph_id=t.graph_id)";
    return LostTensorRows{rows_without("tensor_stats", replay + " AND " + std::string(kOfTheGraph)),
                          rows_without("snapshots", replay)};
  });
}

std::vector<std::byte> read_snapshot_bytes(const std::filesystem::path& path, std::int64_t id,
                                           const std::stop_token& stop) {
  struct Found {
    std::string dtype, shape, hash, place;
    std::vector<std::byte> bytes;
    bool inside = false;
  };
  auto found = read_snapshot(path, stop, [&](Database& database) {
    return read_rows<Found>(
        database,
        "SELECT dtype, shape_json, content_hash, external_path, external_path IS NULL, data FROM "
        "snapshots WHERE id=?",
        [](const Statement& row, Found& f) {
          read_columns(row, 0, f.dtype, f.shape, f.hash, f.place, f.inside);
          const std::span<const std::byte> data = row.blob(5);
          f.bytes.assign(data.begin(), data.end());
        },
        id);
  });
  const std::string what =
      "The snapshot (" + std::to_string(id) + ") of the profiling database (" + path.string() + ")";
  if (found.empty()) {
    throw_invalid_argument(what, " is not there; the table snapshots has those there are.");
  }
  auto& [dtype, shape, hash, place, bytes, inside] = found.front();
  if (!inside && !profile::is_tensor_place(place, hash)) {
    throw_error(ErrorCode::io, what, " is said to lie at (", place,
                "), which is no place where a writer puts one.");
  }
  if (!inside) {
    bytes = profile::read_tensor_file(path.parent_path() / place);
  }
  if (profile::snapshot_hash(dtype, shape, bytes) != hash) {
    throw_error(ErrorCode::io, what, " is damaged: its contents do not have the hash (", hash,
                ") that was stored with them.");
  }
  return std::move(bytes);
}

std::vector<ComparisonRow> read_comparisons(const std::filesystem::path& path,
                                            const TensorQuery& query, const std::stop_token& stop) {
  auto comparisons = read_snapshot(path, stop, [&](Database& database) {
    return read_rows<ComparisonRow>(
        database,
        "SELECT run_id, graph_id, node_idx, tensor_idx, name, reference, max_abs, max_rel, rmse, "
        "cosine, first_bad_index, input_differs, tolerance, pass FROM comparisons WHERE (?1 IS "
        "NULL OR graph_id=?1) AND (?2 IS NULL OR run_id=?2) AND (?3 IS NULL OR tensor_idx=?3) "
        "ORDER BY id DESC LIMIT ?4",
        [](const Statement& row, ComparisonRow& c) {
          read_columns(row, 0, c.run, c.graph, c.node, c.tensor, c.name, c.reference, c.max_abs,
                       c.max_rel, c.rmse, c.cosine, c.first_bad, c.input_differs, c.tolerance,
                       c.pass);
        },
        query.graph, query.run, query.tensor, query.limit);
  });
  std::ranges::reverse(comparisons);
  return comparisons;
}

}  // namespace reprise
