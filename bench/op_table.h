// Calls of ops by themselves, beside what the device can do at most.
#pragma once
#include <string>
#include <vector>

#include "reprise/core/kernel_choice.h"

namespace reprise::bench {

struct OpTableArguments {
  std::vector<std::string> calls;  // texts of OpText; empty: the list
  std::string filter;              // part of a text; empty: all
  std::string device = "auto", precision = "exact";
  std::int64_t threads = 1, reps = 20;
  bool references = false, json = false;
};

/// Prints a table or one JSON object; README.md says what the columns mean.
void print_op_table(const OpTableArguments& arguments);

}  // namespace reprise::bench
