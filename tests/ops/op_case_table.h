// The test rows of all ops, generated from the list in framework/ops/CMakeLists.txt.
#pragma once
#include "tests/ops/op_cases.h"

namespace reprise::testing {

struct NamedCases {
  std::string_view op;
  std::vector<OpCase> (*cases)();
};
std::vector<NamedCases> all_op_cases();

}  // namespace reprise::testing
