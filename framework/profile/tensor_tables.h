// What a profiling database holds of the values of tensors: statistics, contents, and how far they
// are from a reference. As read_profile_info: works while the file is being written, holds nothing
// open, throws io if the file cannot be read, is not a profiling database, is damaged or has a
// newer schema, and returns text as stored. Files of version 1 have none of it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "reprise/sql_query.h"

namespace reprise {

/// Which tensors: of one graph, of one replay, ...; empty: of all.
struct TensorQuery {
  std::optional<std::int64_t> graph{}, replay{};
  std::size_t limit = 10'000;  // the latest
  std::optional<std::int64_t> run{}, tensor{};
};

/// A tensor in a watched replay.
struct WatchedTensor {
  std::int64_t replay = 0, graph = 0, tensor = 0, node = 0;
  std::uint64_t sequence = 0;  // of the replay, in its recording
  std::string name, op;        // of the node that computed it
};

struct TensorStatsRow {
  /// In equal ranges from min to max.
  using Histogram = std::array<std::uint32_t, 64>;
  WatchedTensor of;
  std::uint64_t count = 0, nan = 0, infinite = 0, zero = 0;
  std::optional<double> min, max, mean, rms;  // of finite values; empty without one
  std::optional<Histogram> histogram;
};

/// A tensor over all watched replays of a run.
struct TensorSums {
  std::int64_t tensor = 0, node = 0;
  std::uint64_t replays = 0, count = 0, nan = 0, infinite = 0, zero = 0;
  std::optional<double> min, max, mean;                   // of finite values; empty without one
  std::optional<std::int64_t> first_not_finite_replay{};  // the first with a NaN or infinity
};

struct SnapshotRow {
  std::int64_t id = 0;
  WatchedTensor of;
  std::string dtype, shape_json, content_hash;
  std::uint64_t bytes = 0;
  std::string beside;  // where the contents lie, from the folder of the database; empty: in it
};

struct ComparisonRow {
  std::int64_t run = 0, graph = 0;
  std::optional<std::int64_t> node, tensor;
  std::string name, reference;
  std::optional<double> max_abs, max_rel, rmse, cosine;  // empty: not finite
  std::optional<std::int64_t> first_bad;
  std::optional<bool> input_differs;
  double tolerance = 0;
  bool pass = false;
};

/// In the order of replays, and there of nodes. Throws Cancelled once `stop` asks, as all here.
std::vector<TensorStatsRow> read_tensor_stats(const std::filesystem::path& path,
                                              const TensorQuery& query = {},
                                              const std::stop_token& stop = {});
/// Of one graph in one run, by node and tensor; of nodes and tensors that the graph has.
std::vector<TensorSums> read_tensor_sums(const std::filesystem::path& path, std::int64_t run,
                                         std::int64_t graph, const std::stop_token& stop = {});
std::vector<SnapshotRow> read_snapshots(const std::filesystem::path& path,
                                        const TensorQuery& query = {},
                                        const std::stop_token& stop = {});
/// How many rows of a graph the readers above leave out.
struct LostTensorRows {
  std::uint64_t statistics = 0;  // in sums: the file has no such replay, node or tensor of it
  std::uint64_t snapshots = 0;   // the file has no such replay of it
};
LostTensorRows count_lost_tensor_rows(const std::filesystem::path& path, std::int64_t graph,
                                      const std::stop_token& stop = {});
/// The bytes of a snapshot. Throws invalid_argument if there is none of that id; io if they do not
/// have the hash that was stored with them, or the file beside the database is missing or damaged.
std::vector<std::byte> read_snapshot_bytes(const std::filesystem::path& path, std::int64_t id,
                                           const std::stop_token& stop = {});
/// In the order in which they were made, the latest `limit`; `replay` has no use here.
std::vector<ComparisonRow> read_comparisons(const std::filesystem::path& path,
                                            const TensorQuery& query = {},
                                            const std::stop_token& stop = {});

}  // namespace reprise
