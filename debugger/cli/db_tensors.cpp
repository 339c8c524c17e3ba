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
  using Row = TensorStatsRow;
  constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
  const auto of = [](auto WatchedTensor::*member) {
    return [member](const Row& row) -> Cell { return row.of.*member; };
  };
  const auto value = [](auto Row::*member) {
    return [member](const Row& row) { return real(row.*member, kDigits); };
  };
  Listing list =
      list_of<Row>("tensors",
                   {{"replay", "replay", kNumbers, of(&WatchedTensor::replay)},
                    {"sequence", "seq", kNumbers, of(&WatchedTensor::sequence)},
                    {"graph", "graph", kNumbers, of(&WatchedTensor::graph)},
                    {"node", "node", kNumbers, of(&WatchedTensor::node)},
                    {"op", "op", kTexts, of(&WatchedTensor::op)},
                    {"tensor", kNotInTables, kNumbers, of(&WatchedTensor::tensor)},
                    {"name", "name", kTexts, of(&WatchedTensor::name)},
                    {"count", "n", kNumbers, &Row::count},
                    {"nan", "nan", kNumbers, &Row::nan},
                    {"infinite", "inf", kNumbers, &Row::infinite},
                    {"zero", "zero", kNumbers, &Row::zero},
                    {"min", "min", kNumbers, value(&Row::min)},
                    {"max", "max", kNumbers, value(&Row::max)},
                    {"mean", "mean", kNumbers, value(&Row::mean)},
                    {"rms", "rms", kNumbers, value(&Row::rms)},
                    {"snapshot", "snapshot", kNumbers,
                     [&](const Row& row) {
                       const auto found = snapshots.find({row.of.replay, row.of.tensor});
                       return found == snapshots.end() ? Cell::none() : Cell(found->second);
                     }}},
                   read_tensor_stats(command.path, query));
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
