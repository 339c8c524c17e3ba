// Runs a program in double precision. Shares no code with the library.
#pragma once
#include "tests/crossed/outcome.h"

namespace reprise::crossed {

/// What a program means, and how far from it a device may be.
struct Meant {
  Outcome outcome;
  /// By the same names as the outputs; of every round and iteration. Absolute.
  std::vector<std::vector<std::map<std::string, double>>> tolerances;
  std::map<std::string, double> left_tolerances;
  /// Not empty: rounding decides the results, so that only bits can be compared. Says why.
  std::string undecided;
};

Meant interpret(const Program& program);

}  // namespace reprise::crossed
