// The command line of reprise-llama.
#pragma once
#include <string>
#include <vector>

#include "samples/llama/checks.h"

namespace llama {

struct Arguments {
  std::string model, perplexity, device = "auto", mode = "recorded", precision = "exact",
                                 cache = "f32";
  std::vector<std::string> prompts;
  std::string profile, profile_mode = "replay";
  long long count = 64;
  long long context = 0;
  long long parallel = 1;
  unsigned long long expert_budget = 0;  // 0: all experts are on the device
  unsigned threads = 0, iterations = 1;
  bool ids = false, json = false, times = false;
  Checks checks;
  Sampling sampling;

  Mode execution_mode() const { return mode == "direct" ? Mode::direct : Mode::recorded; }
};

/// An exit status, where the program has nothing to do but to end; else -1.
int parse(Arguments& a, int argc, char** argv);
/// Throws invalid_argument for numbers and for options that do not go together.
void require_consistent(const Arguments& a);

}  // namespace llama
