// `reprise-bench db`: what the profiling database costs those who write and those who read it.
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/db_parts.h"
#include "framework/programs/json_output.h"

namespace reprise::bench {
namespace {

const std::map<std::string, nlohmann::ordered_json (*)(const DbArguments&)> kParts{
    {"hand_over", measure_hand_over},
    {"writing", measure_writing},
    {"reading", measure_reading},
    {"live_reading", measure_live_reading}};

/// Prints one JSON object; README.md says what its keys mean.
void print_db(const DbArguments& a) {
  require_between("--nodes", a.nodes, 1, 100'000);
  require_between("--replays", a.replays, 1, 1'000'000);
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--graphs", a.graphs, 1, 1'000'000);
  require_between("--rate", a.rate, 1, 1'000'000);
  require_between("--seconds", a.seconds, 1, 3'600);
  nlohmann::ordered_json json{{"nodes", a.nodes}, {"replays", a.replays}};
  for (const auto& [name, measure] : kParts) {
    if (a.part.empty() || a.part == name) {
      json[name] = measure(a);
    }
  }
  programs::print_json(json);
}

}  // namespace

void add_db(CLI::App& app) {
  const auto a = std::make_shared<DbArguments>();
  CLI::App* db = app.add_subcommand(
      "db", "Writing and reading profiling databases beside plain SQLite; prints JSON");
  db->add_option("--nodes", a->nodes, "Nodes of the graph")->capture_default_str();
  db->add_option("--replays", a->replays, "Replays of a file")->capture_default_str();
  db->add_option("-r,--reps", a->reps, "Interleaved runs of each")->capture_default_str();
  db->add_option("--graphs", a->graphs, "Graphs of the file that is listed")->capture_default_str();
  db->add_option("--rate", a->rate, "Replays per second while somebody reads")
      ->capture_default_str();
  db->add_option("--seconds", a->seconds, "How long somebody reads")->capture_default_str();
  db->add_option("--part", a->part, "Only hand_over, writing, reading or live_reading")
      ->check(CLI::IsMember(&kParts));
  db->callback([a] { print_db(*a); });
}

}  // namespace reprise::bench
