// reprise-bench: one subcommand per question.
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/commands.h"

int main(int argc, char** argv) try {
  CLI::App app("Measures what Reprise adds to the work itself.", "reprise-bench");
  app.set_version_flag("--version", "reprise-bench 0.1.0");
  app.require_subcommand(1);
  std::vector<std::string> words(argv + 1, argv + argc);
  reprise::bench::add_llm(app, words);
  reprise::bench::add_op(app);
  reprise::bench::add_gemm(app);
  reprise::bench::add_dispatch(app);
  reprise::bench::add_timings(app);
  reprise::bench::add_debugger(app);

  std::ranges::replace(words, "-pg", "--pg");  // CLI11 has short options of one letter
  std::ranges::reverse(words);                 // the order its parse() takes
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
