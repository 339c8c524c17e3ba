// Golden cases of ops that compute each element apart.
#pragma once
#include <functional>

#include "tests/golden_runner/runs.h"

namespace golden {

/// The input of that name, with at least that rank.
using CaseInput = std::function<reprise::Tensor(const std::string& name, std::size_t min_rank)>;

/// Records the op of the case. An empty tensor if it is not one of them.
reprise::Tensor elementwise_case(reprise::Recorder& r, const GoldenCase& c, const CaseInput& input);

}  // namespace golden
