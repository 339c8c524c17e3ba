// reprise-bench: one subcommand per question.
#include <algorithm>
#include <cctype>
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/commands.h"
#include "framework/programs/command_line.h"
#include "framework/programs/terminal.h"
#include "reprise/core/error.h"
#include "reprise/core/printable.h"

namespace {

/// "-ngl": CLI11 would read -n with the value "gl".
bool is_long_with_one_dash(const std::string& word) {
  const auto letter = [&](std::size_t i) {
    return std::isalpha(static_cast<unsigned char>(word[i])) != 0;
  };
  return word.size() > 2 && word[0] == '-' && letter(1) && letter(2);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Measures what Reprise adds to the work itself.", "reprise-bench");
  app.set_version_flag("--version", "reprise-bench 0.1.0");
  app.require_subcommand(1);
  std::vector<std::string> words(argv + 1, argv + argc);
  reprise::bench::add_llm(app, words);
  reprise::bench::add_op(app);
  reprise::bench::add_gemm(app);
  reprise::bench::add_dispatch(app);
  reprise::bench::add_iterations(app);
  reprise::bench::add_passes(app);
  reprise::bench::add_extents(app);
  reprise::bench::add_executable(app);
  reprise::bench::add_experts(app);
  reprise::bench::add_host_steps(app);
  reprise::bench::add_timings(app);
  reprise::bench::add_warm_up(app);
  reprise::bench::add_db(app);
  reprise::bench::add_debugger(app);

  reprise::programs::refuse_large_numbers(app);
  std::ranges::replace(words, "-pg", "--pg");  // CLI11 has short options of one letter
  if (const auto word = std::ranges::find_if(words, is_long_with_one_dash); word != words.end()) {
    std::cerr << "error: There is no option (" << reprise::printable(*word)
              << "); --help lists those there are.\n";
    return 2;
  }
  std::ranges::reverse(words);  // the order its parse() takes
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return reprise::programs::end_of_parsing(app, e);
  }
  return 0;
} catch (const reprise::Error& e) {
  const bool unsupported = e.code() == reprise::ErrorCode::unsupported;
  reprise::programs::print_error(
      unsupported ? reprise::Error(e.code(), "unsupported: " + std::string(e.what())) : e);
  return 1;
} catch (const std::exception& e) {
  reprise::programs::print_error(e);
  return 1;
}
