// How many tokens per second does the llama sample process? llama-bench's question, flags and rows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::bench {

/// Every list is run against every other one.
struct LlmArguments {
  std::vector<std::string> models;
  std::vector<std::int64_t> prompt{512}, generate{128}, depth{0}, batch{2048}, threads{1};
  std::vector<std::string> prompt_generate;  // "512,128": one after the other, measured together
  std::vector<std::string> devices{"auto"}, modes{"recorded"}, precisions{"exact"};
  std::int64_t reps = 5;
  std::string format = "md";  // json, csv, sql
  std::string profile;        // profiling database for the table benchmarks; empty: none
  std::vector<std::string> command_line;
};

/// Prints the rows; README.md says what is measured.
void print_llm(const LlmArguments& arguments);

}  // namespace reprise::bench
