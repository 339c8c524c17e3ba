// reprise-bench: one subcommand per question.
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/dispatch.h"

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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  reprise::bench::print_dispatch(arguments);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
