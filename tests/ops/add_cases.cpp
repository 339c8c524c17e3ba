#include "reprise/ops/add.h"
#include "tests/ops/broadcast_cases.h"

namespace reprise::testing {

std::vector<OpCase> add_cases() { return broadcast_cases(add); }

}  // namespace reprise::testing
