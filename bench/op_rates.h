// How near does each op of the llama sample's graphs come to what the device can do?
#pragma once
#include <cstdint>
#include <string>

namespace reprise::bench {

struct OpRatesArguments {
  std::string model, device = "auto", precision = "exact";
  std::string filter;  // part of the text of a row; empty: all
  std::int64_t prompt = 128, threads = 1, reps = 20;
  bool json = false;
};

/// Prints a table or one JSON object; README.md says what the columns mean.
void print_op_rates(const OpRatesArguments& arguments);

}  // namespace reprise::bench
