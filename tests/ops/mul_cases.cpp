#include "reprise/ops/mul.h"
#include "tests/ops/broadcast_cases.h"

namespace reprise::testing {

std::vector<OpCase> mul_cases() { return broadcast_cases(mul); }

}  // namespace reprise::testing
