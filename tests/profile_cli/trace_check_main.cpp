// trace_check TRACE DATABASE: status 1 if the trace of the latest run lacks something.
#include <cstdio>
#include <fstream>
#include <iostream>

#include "reprise/core/error.h"
#include "tests/profile_cli/trace_check.h"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: trace_check TRACE DATABASE\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  const reprise::test::TracedNodes expected = reprise::test::nodes_to_trace(argv[2]);
  const auto problems = reprise::test::trace_problems(nlohmann::json::parse(file), expected);
  for (const std::string& problem : problems) {
    std::cout << problem << '\n';
  }
  std::size_t nodes = 0;
  for (const auto& [replay, of] : expected) {
    nodes += of.size();
  }
  std::cout << expected.size() << " replays, " << nodes << " slices of nodes, " << problems.size()
            << " problems\n";
  return problems.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
