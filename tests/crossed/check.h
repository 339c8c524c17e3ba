// Runs a program in its way, directly and by the interpreter, and compares what each left.
#pragma once
#include "reprise/reprise.h"
#include "tests/crossed/program.h"

namespace reprise::crossed {

struct Verdict {
  std::string difference;  // empty: none
  bool throws = false;     // it is an error of the library
  std::string undecided;   // why nothing but bits was compared; empty: all was
  double loosest = 0;      // the widest tolerance, of the largest number of its output
};

/// `folder`: of its files.
Verdict check(const Program& program, const Device& device, const std::string& folder);

}  // namespace reprise::crossed
