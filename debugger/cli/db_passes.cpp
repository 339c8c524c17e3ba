#include <cstdio>

#include "debugger/cli/commands.h"
#include "debugger/cli/listing.h"

namespace reprise::cli {
namespace {

Cell graph_cell(const PassDecisionSummary& row) {
  return {Value(row.graph), std::to_string(row.graph) + " " + row.graph_name};
}

Cell saved_cell(const PassDecisionSummary& row) {
  Cell cell(row.estimate_ns);
  cell.text = row.estimate_ns ? number(static_cast<double>(*row.estimate_ns) / 1e3, 1) : "";
  return cell;
}

const std::vector<RowColumn<PassDecisionSummary>>& decision_columns() {
  using Row = PassDecisionSummary;
  static const std::vector<RowColumn<Row>> kColumns = {
      {"graph", "graph", Holds::texts, graph_cell},
      {"graph_name", kNotInTables, Holds::texts, &Row::graph_name},
      {"pass", "pass", Holds::texts, &Row::pass},
      {"kind", "kind", Holds::texts, &Row::kind},
      {"node", "node", Holds::numbers, &Row::node},
      {"op", "op", Holds::texts, &Row::op},
      {"scope", "scope", Holds::texts, &Row::scope},
      {"applied", "applied", Holds::texts, &Row::applied},
      {"estimate_ns", "saves us", Holds::numbers, saved_cell},
      {"reason", "reason", Holds::texts, &Row::reason}};
  return kColumns;
}

}  // namespace

void print_passes(const std::string& path, std::optional<std::int64_t> graph, bool json) {
  const std::vector<PassDecisionSummary> decisions = read_pass_decisions(path, graph);
  if (!json && decisions.empty()) {
    std::printf("no pass decided anything about %s\n",
                graph ? "this graph" : "the graphs of the last run");
  } else {
    print_rows(list_of("passes", decision_columns(), decisions), json);
  }
}

}  // namespace reprise::cli
