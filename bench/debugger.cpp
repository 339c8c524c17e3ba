// `reprise-bench debugger`: what a capture of any size costs the debugger.
#include <memory>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/commands.h"
#include "bench/debugger_frames.h"
#include "bench/debugger_layout.h"
#include "bench/debugger_panels.h"
#include "bench/full_capture.h"
#include "bench/samples.h"
#include "bench/temporary_profile.h"
#include "debugger/model/document.h"
#include "framework/programs/json_output.h"

namespace reprise::bench {
namespace {

constexpr int kPanelRounds = 15;

struct DebuggerArguments {
  long long nodes = 5'000, replays = 64, reps = 5;
};

void settle(debugger::Document& document) {
  document.settle();
  if (!document.problem().empty()) {
    throw std::runtime_error(document.problem());
  }
}

/// Opens the file as the debugger does, until everything it shows at first is there.
void measure_loading(const std::filesystem::path& path, Samples& samples) {
  std::optional<debugger::Document> document;
  samples.add("load_ms", ms_of([&] { settle(document.emplace(path)); }));
  const std::size_t replays = document->replays().rows.size();
  if (document->statistics().nodes.empty() || replays == 0) {
    throw std::runtime_error("The capture has no node times.");
  }
  samples.add("range_ms", ms_of([&] {
                document->set_range(debugger::ReplayRange{0, replays - 1});
                settle(*document);
              }));
  samples.add("replay_ms", ms_of([&] {
                document->show_replay(replays / 2);
                settle(*document);
              }));
}

/// With every scope unfolded.
void add_graph(const std::filesystem::path& path, nlohmann::ordered_json& json) {
  debugger::Document document(path);
  settle(document);
  const LayoutTimes layout = measure_layout(*document.capture());
  json["edges"] = layout.edges;
  json["scope_tree_ms"] = layout.scope_tree_ms;
  json["fold_ms"] = layout.fold_ms;
  json["layout_ms"] = layout.layout_ms;
  const FrameTimes frames = measure_frames(path);
  json["frame_culled_ms"] = frames.culled_ms;
  json["frame_in_sight_ms"] = frames.in_sight_ms;
}

void print_debugger(const DebuggerArguments& a) {
  require_between("--nodes", a.nodes, 1, 10'000'000);
  require_between("--replays", a.replays, 2, 1'000'000);
  require_between("--reps", a.reps, 1, kMaxReps);
  const TemporaryProfile profile;
  const double write_ms = ms_of([&] {
    write_full_capture(profile.path, static_cast<std::size_t>(a.nodes),
                       static_cast<std::size_t>(a.replays));
  });
  Samples samples;
  for (long long i = 0; i < a.reps; ++i) {
    measure_loading(profile.path, samples);
  }
  nlohmann::ordered_json json{{"nodes", a.nodes},
                              {"replays", a.replays},
                              {"file_bytes", std::filesystem::file_size(profile.path)},
                              {"write_ms", write_ms}};
  for (const char* key : {"load_ms", "range_ms", "replay_ms"}) {
    json[key] = samples.median(key);
  }
  add_graph(profile.path, json);
  json["panels_cpu_ms"] = measure_panels(profile.path, kPanelRounds);
  programs::print_json(json);
}

}  // namespace

void add_debugger(CLI::App& app) {
  const auto a = std::make_shared<DebuggerArguments>();
  CLI::App* debugger =
      app.add_subcommand("debugger", "Opening a synthetic capture in the debugger; prints JSON");
  debugger->add_option("--nodes", a->nodes, "Nodes of the graph")->capture_default_str();
  debugger
      ->add_option("--replays", a->replays, "Replays; above 4,096 one in many is timed per node")
      ->capture_default_str();
  debugger->add_option("--reps", a->reps, "Measured repetitions")->capture_default_str();
  debugger->callback([a] { print_debugger(*a); });
}

}  // namespace reprise::bench
