#include <map>

#include "debugger/cli/db_commands.h"
#include "framework/profile/tensor_tables.h"

namespace reprise::cli {
namespace {

constexpr int kDigits = 6;  // of values, after the point

}  // namespace

void print_tensors(const TensorsCommand& command) {
  const TensorQuery query{command.wish.graph, command.wish.replay,
                          positive("--limit", command.limit)};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> snapshots;  // by replay and tensor
  for (const SnapshotRow& snapshot : read_snapshots(command.path, query)) {
    snapshots[{snapshot.of.replay, snapshot.of.tensor}] = snapshot.id;
  }
  Listing list{"tensors",
               {{"replay", "replay", Holds::numbers},
                {"sequence", "seq", Holds::numbers},
                {"graph", "graph", Holds::numbers},
                {"node", "node", Holds::numbers},
                {"op", "op"},
                {"tensor", "", Holds::numbers},
                {"name", "name"},
                {"count", "n", Holds::numbers},
                {"nan", "nan", Holds::numbers},
                {"infinite", "inf", Holds::numbers},
                {"zero", "zero", Holds::numbers},
                {"min", "min", Holds::numbers},
                {"max", "max", Holds::numbers},
                {"mean", "mean", Holds::numbers},
                {"rms", "rms", Holds::numbers},
                {"snapshot", "snapshot", Holds::numbers}}};
  for (const TensorStatsRow& row : read_tensor_stats(command.path, query)) {
    const WatchedTensor& of = row.of;
    const auto snapshot = snapshots.find({of.replay, of.tensor});
    list.rows.push_back({of.replay, of.sequence, of.graph, of.node, of.op, of.tensor, of.name,
                         row.count, row.nan, row.infinite, row.zero, real(row.min, kDigits),
                         real(row.max, kDigits), real(row.mean, kDigits), real(row.rms, kDigits),
                         snapshot == snapshots.end() ? Cell::none() : Cell(snapshot->second)});
  }
  Report report;
  if (list.rows.empty()) {
    report.notes.push_back(
        "No tensors: they come from watched launches, for example after "
        "executor.set_watches({{.tensors = \"*\", .every = 10}}).");
  }
  report.listings.push_back(std::move(list));
  report.print(command.format);
}

}  // namespace reprise::cli
