// reprise-bench: one subcommand per question.
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/debugger.h"
#include "bench/dispatch.h"
#include "bench/timings.h"

int main(int argc, char** argv) try {
  CLI::App app("Measures what Reprise adds to the work itself.", "reprise-bench");
  app.set_version_flag("--version", "reprise-bench 0.1.0");
  app.require_subcommand(1);

  reprise::bench::DispatchArguments arguments;
  CLI::App* dispatch = app.add_subcommand(
      "dispatch", "Recording and replaying a chain of tiny ops, against plain Vulkan; prints JSON");
  dispatch->add_option("--nodes", arguments.nodes, "Ops of the chain")->capture_default_str();
  dispatch->add_option("--reps", arguments.reps, "Measured repetitions")->capture_default_str();
  dispatch->add_option("--device", arguments.device, "vulkan or vulkan:<number>")
      ->capture_default_str();

  reprise::bench::TimingsArguments of_timings;
  CLI::App* timings = app.add_subcommand(
      "timings", "Node times of a chain of matrix products against the whole replay; prints JSON");
  timings->add_option("--nodes", of_timings.nodes, "Products of the chain")->capture_default_str();
  timings->add_option("--size", of_timings.size, "Rows of the matrices")->capture_default_str();
  timings->add_option("--reps", of_timings.reps, "Replays in each mode")->capture_default_str();
  timings->add_option("--device", of_timings.device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();

  reprise::bench::DebuggerArguments of_debugger;
  CLI::App* debugger =
      app.add_subcommand("debugger", "Opening a synthetic capture in the debugger; prints JSON");
  debugger->add_option("--nodes", of_debugger.nodes, "Nodes of the graph")->capture_default_str();
  debugger->add_option("--replays", of_debugger.replays, "Replays, all timed per node")
      ->capture_default_str();
  debugger->add_option("--reps", of_debugger.reps, "Measured repetitions")->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (dispatch->parsed()) {
    reprise::bench::print_dispatch(arguments);
  } else if (debugger->parsed()) {
    reprise::bench::print_debugger(of_debugger);
  } else {
    reprise::bench::print_timings(of_timings);
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
