#include <cstdio>

#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "debugger/model/printable.h"
#include "framework/profile/profile_reader.h"

namespace reprise::cli {
namespace {

using debugger::printable;

nlohmann::json to_json(const DatabaseInfo& info) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunSummary& r : info.runs) {
    runs.push_back({{"id", r.id},
                    {"app", r.app},
                    {"label", r.label},
                    {"start_utc", r.start_utc},
                    {"host", r.hostname},
                    {"device", r.device},
                    {"exit_state", r.exit_state},
                    {"recordings", r.recordings},
                    {"replays", r.replays}});
  }
  nlohmann::json graphs = nlohmann::json::array();
  for (const GraphSummary& g : info.graphs) {
    nlohmann::json row{{"id", g.id},
                       {"name", g.name},
                       {"nodes", g.nodes},
                       {"steps", g.steps},
                       {"barriers", g.barriers},
                       {"edges", g.edges},
                       {"arena_bytes", g.arena_bytes},
                       {"live_peak_bytes", g.live_peak_bytes},
                       {"naive_bytes", g.naive_bytes},
                       {"replays", g.replays},
                       {"median_device_ns", nullptr},
                       {"median_submit_ns", nullptr}};
    if (g.median_device_ns) {
      row["median_device_ns"] = *g.median_device_ns;
    }
    if (g.median_submit_ns) {
      row["median_submit_ns"] = *g.median_submit_ns;
    }
    graphs.push_back(row);
  }
  nlohmann::json tables = nlohmann::json::object();
  for (const TableSummary& t : info.tables) {
    tables[t.name] = t.rows;
  }
  return {{"path", info.path.string()}, {"schema_version", info.schema_version},
          {"bytes", info.bytes},        {"runs", runs},
          {"graphs", graphs},           {"tables", tables}};
}

void print(const DatabaseInfo& info) {
  std::printf("%s: schema %lld, %llu bytes\n", printable(info.path.string()).c_str(),
              static_cast<long long>(info.schema_version),
              static_cast<unsigned long long>(info.bytes));
  std::printf("\nruns\n");
  for (const RunSummary& r : info.runs) {
    std::printf("  %lld  %s %s, %s, %s, %s: %llu recordings, %llu replays\n",
                static_cast<long long>(r.id), printable(r.app).c_str(), printable(r.label).c_str(),
                printable(r.start_utc).c_str(), printable(r.device).c_str(),
                printable(r.exit_state).c_str(), static_cast<unsigned long long>(r.recordings),
                static_cast<unsigned long long>(r.replays));
  }
  std::printf("\ngraphs\n  %-4s %-16s %7s %7s %9s %9s %12s %12s %8s %12s\n", "id", "name", "nodes",
              "steps", "barriers", "edges", "arena bytes", "unshared", "replays", "device us p50");
  for (const GraphSummary& g : info.graphs) {
    const auto count = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf("  %-4lld %-16s %7llu %7llu %9llu %9llu %12llu %12llu %8llu",  //
                static_cast<long long>(g.id), printable(g.name).c_str(), count(g.nodes),
                count(g.steps), count(g.barriers), count(g.edges), count(g.arena_bytes),
                count(g.naive_bytes), count(g.replays));
    if (g.median_device_ns) {
      std::printf(" %13.1f", static_cast<double>(*g.median_device_ns) / 1e3);
    }
    std::printf("\n");
  }
  std::printf("\nrows\n");
  for (const TableSummary& t : info.tables) {
    if (t.rows > 0) {
      std::printf("  %-18s %llu\n", printable(t.name).c_str(),
                  static_cast<unsigned long long>(t.rows));
    }
  }
}

}  // namespace

void print_db_info(const std::string& path, bool json) {
  const DatabaseInfo info = read_profile_info(path);
  if (json) {
    print_json(to_json(info));
  } else {
    print(info);
  }
}

}  // namespace reprise::cli
