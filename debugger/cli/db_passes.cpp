#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "debugger/cli/table.h"

namespace reprise::cli {
namespace {

nlohmann::json to_json(const PassDecisionSummary& decision) {
  return {{"graph", decision.graph},        {"graph_name", decision.graph_name},
          {"pass", decision.pass},          {"kind", decision.kind},
          {"node", or_null(decision.node)}, {"op", decision.op},
          {"scope", decision.scope},        {"applied", decision.applied},
          {"reason", decision.reason},      {"estimate_ns", or_null(decision.estimate_ns)}};
}

std::string microseconds_saved(std::optional<std::int64_t> ns) {
  return ns ? number(static_cast<double>(*ns) / 1e3, 1) : "";
}

void print(const std::vector<PassDecisionSummary>& decisions) {
  Table table({{"graph"},
               {"pass"},
               {"kind"},
               {"node", Holds::numbers},
               {"op"},
               {"scope"},
               {"applied"},
               {"saves us", Holds::numbers},
               {"reason"}});
  for (const PassDecisionSummary& d : decisions) {
    table.add({std::to_string(d.graph) + " " + d.graph_name, d.pass, d.kind,
               d.node ? std::to_string(*d.node) : "", d.op, d.scope, d.applied ? "yes" : "no",
               microseconds_saved(d.estimate_ns), d.reason});
  }
  table.print();
}

}  // namespace

void print_passes(const std::string& path, std::optional<std::int64_t> graph, bool json) {
  const std::vector<PassDecisionSummary> decisions = read_pass_decisions(path, graph);
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const PassDecisionSummary& decision : decisions) {
      list.push_back(to_json(decision));
    }
    print_json(list);
  } else if (decisions.empty()) {
    std::printf("no pass decided anything about %s\n",
                graph ? "this graph" : "the graphs of the last run");
  } else {
    print(decisions);
  }
}

}  // namespace reprise::cli
