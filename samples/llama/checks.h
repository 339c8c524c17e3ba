// The checks of the library, run on the passes of generation before it begins.
#pragma once
#include <string>

#include "samples/llama/generate.h"

namespace llama {

struct Checks {
  bool lint = false;    // whether a recording would bake anything
  bool verify = false;  // whether recorded and replayed runs equal direct ones
};

struct CheckOutcome {
  bool passed = true;
  std::string text;  // a line per check and pass, and one per finding
};

/// Of the prompt's pass and of one step, at different positions and with different tokens. Leaves
/// the model's caches as they are. Throws invalid_argument as generate() does.
CheckOutcome check(reprise::GraphExecutor& executor, const Model& model, const Request& request,
                   const Checks& checks);

}  // namespace llama
