#include <charconv>
#include <cmath>
#include <set>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/table.h"
#include "debugger/cli/terminal.h"
#include "debugger/model/run_diff.h"
#include "reprise/core/error.h"

namespace reprise::cli {
namespace {

using debugger::GraphDiff;
using debugger::NodeDiff;
using debugger::NodeSide;

constexpr double kNotable = 0.05;  // what is called slower or faster if nobody says

std::optional<double> share_of(const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  const char* end = text->data() + text->size() - (text->ends_with('%') ? 1 : 0);
  double percent = -1;
  const auto [stop, error] = std::from_chars(text->data(), end, percent);
  if (error != std::errc() || stop != end || !std::isfinite(percent) || percent < 0) {
    throw_invalid_argument("--fail-above is (", *text,
                           "), but must be a percentage from 0 on, such as 5%.");
  }
  return percent / 100;
}

bool is_slower(const NodeDiff& node, double notable) {
  return node.a && node.b && node.ratio.value_or(1) > 1 + notable;
}

bool is_faster(const NodeDiff& node, double notable) {
  return node.a && node.b && node.ratio.value_or(1) < 1 / (1 + notable);
}

std::string change_of(const NodeDiff& node, double notable) {
  if (!node.a || !node.b) {
    return node.a ? "removed" : "added";
  }
  std::string text = is_slower(node, notable) ? "slower" : is_faster(node, notable) ? "faster" : "";
  for (const std::string& change : node.changes) {
    text += (text.empty() ? "" : "; ") + change;
  }
  return text;
}

std::string probability_text(std::optional<double> probability) {
  if (!probability) {
    return "";
  }
  return *probability < 0.001 ? "<0.001" : number(*probability, 3);
}

void add_row(const GraphDiff& graph, const NodeDiff& node, double notable, Listing& list) {
  const auto side = [](const std::optional<NodeSide>& of, auto member) {
    return of ? Cell((*of).*member) : Cell::none();
  };
  const auto time = [](const std::optional<NodeSide>& of, auto member) {
    return of ? nanoseconds((*of).*member) : Cell::none();
  };
  Cell probability = real(node.probability, 3);
  probability.text = probability_text(node.probability);
  list.rows.push_back({graph.name, side(node.a, &NodeSide::node), side(node.b, &NodeSide::node),
                       node.op, node.scope, side(node.a, &NodeSide::times),
                       side(node.b, &NodeSide::times), time(node.a, &NodeSide::median_ns),
                       time(node.b, &NodeSide::median_ns), time(node.a, &NodeSide::p95_ns),
                       time(node.b, &NodeSide::p95_ns), real(node.ratio, 3), probability,
                       change_of(node, notable)});
}

Listing nodes_of(const std::vector<GraphDiff>& graphs, double notable) {
  Listing list{"nodes",
               {{"graph", "graph"},
                {"node_a", "a", Holds::numbers},
                {"node_b", "b", Holds::numbers},
                {"op", "op"},
                {"scope", "scope"},
                {"times_a", "times a", Holds::numbers},
                {"times_b", "times b", Holds::numbers},
                {"median_a_ns", "p50 a us", Holds::numbers},
                {"median_b_ns", "p50 b us", Holds::numbers},
                {"p95_a_ns", "p95 a us", Holds::numbers},
                {"p95_b_ns", "p95 b us", Holds::numbers},
                {"ratio", "b/a", Holds::numbers},
                {"probability", "p", Holds::numbers},
                {"change", "change"}}};
  for (const GraphDiff& graph : graphs) {
    for (const NodeDiff& node : graph.nodes) {
      add_row(graph, node, notable, list);
    }
  }
  return list;
}

Listing graphs_of(const std::vector<GraphDiff>& graphs) {
  using Row = GraphDiff;
  constexpr Holds kTexts = Holds::texts, kNumbers = Holds::numbers;
  return list_of<Row>("graphs",
                      {{"graph", "graph", kTexts, &Row::name},
                       {"graph_a", "a", kNumbers, &Row::graph_a},
                       {"graph_b", "b", kNumbers, &Row::graph_b},
                       {"device_a_ns", "device p50 a us", kNumbers,
                        [](const Row& row) { return nanoseconds(row.device_a_ns); }},
                       {"device_b_ns", "device p50 b us", kNumbers,
                        [](const Row& row) { return nanoseconds(row.device_b_ns); }},
                       {"change", "change", kTexts,
                        [](const Row& row) {
                          return !row.graph_a ? "added" : !row.graph_b ? "removed" : "";
                        }}},
                      graphs);
}

/// The timing modes of the replays of a side, as in "off, node".
std::string modes_of(const std::vector<GraphDiff>& graphs,
                     std::set<TimingMode> GraphDiff::*const side) {
  std::set<TimingMode> modes;
  for (const GraphDiff& graph : graphs) {
    modes.insert((graph.*side).begin(), (graph.*side).end());
  }
  std::string text;
  for (const TimingMode mode : modes) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(mode));
  }
  return text;
}

}  // namespace

int print_diff(const DiffCommand& command) {
  const std::optional<double> fail_above = share_of(command.fail_above);
  const std::string& other = command.other.empty() ? command.path : command.other;
  if (other == command.path && (!command.run_a || !command.run_b)) {
    throw_invalid_argument("Two files, or --run-a and --run-b of one, are needed to compare.");
  }
  const Interrupt interrupt;
  const debugger::RunDiff diff =
      debugger::diff_runs({command.path, command.run_a}, {other, command.run_b}, interrupt.token());
  const double notable = fail_above.value_or(kNotable);
  Report report;
  report.listings = {nodes_of(diff.graphs, notable), graphs_of(diff.graphs)};
  std::size_t slower = 0, faster = 0, untested = 0, compared = 0;
  for (const GraphDiff& graph : diff.graphs) {
    for (const NodeDiff& node : graph.nodes) {
      slower += is_slower(node, notable) ? 1U : 0U;
      faster += is_faster(node, notable) ? 1U : 0U;
      compared += node.ratio ? 1U : 0U;
      untested += node.ratio && !node.probability ? 1U : 0U;
    }
  }
  if (fail_above && compared == 0) {
    throw_invalid_argument("--fail-above (", *command.fail_above,
                           ") has nothing to compare: no node has times of one "
                           "timing mode in both runs. The modes of run (",
                           *diff.a.run, ") are (", modes_of(diff.graphs, &GraphDiff::modes_a),
                           "), those of run (", *diff.b.run, ") are (",
                           modes_of(diff.graphs, &GraphDiff::modes_b),
                           "); --profile-mode node takes times of nodes.");
  }
  report.add_fact("run_a", *diff.a.run);
  report.add_fact("run_b", *diff.b.run);
  report.add_fact("above", real(notable, 3));
  report.add_fact("slower", slower);
  report.add_fact("faster", faster);
  report.notes.push_back(std::to_string(slower) + " nodes slower by more than " +
                         number(100 * notable, 1) + "%, " + std::to_string(faster) + " faster");
  if (untested > 0) {
    report.notes.push_back(
        std::to_string(untested) +
        " nodes without a rank test: fewer than 20 of their times were kept on a "
        "side, so medians are those of the statistics");
  }
  report.print(command.format);
  return fail_above && slower > 0 ? kFound : 0;
}

}  // namespace reprise::cli
