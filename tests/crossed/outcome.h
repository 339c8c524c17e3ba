// What a program left: all outputs of all runs, and at the end all that stays between runs.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/crossed/program.h"

namespace reprise::crossed {

/// Numbers with their bits where a device made them, numbers alone where they were interpreted.
struct Numbers {
  Kind kind = Kind::none;
  std::vector<std::byte> bytes;
  std::vector<double> values;
};
/// Outputs by name, of one iteration.
using Outputs = std::map<std::string, Numbers>;

struct RoundOutcome {
  int iterations = 0;  // that ran
  /// One per iteration that ran. Iterations may lack outputs that are not kept.
  std::vector<Outputs> outputs;
};

struct Outcome {
  std::vector<RoundOutcome> rounds;
  Outputs left;  // written tensors, the carried array, the memory of feeds
  std::map<std::string, int> fields;
};

}  // namespace reprise::crossed
