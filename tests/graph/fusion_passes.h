// Random forward passes for fusions: pairs of ops that rules look for, with extra readers, outputs,
// parts, and writes between them.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/graph/random_graphs.h"

namespace reprise::testing {

struct FusionSeeds {
  std::uint64_t tensors, pass;
  std::size_t pairs;
};

/// The outputs and the persistent tensors that the pass wrote, by name. Counts the fusions in
/// `applied`, by rule.
using Left = std::map<std::string, std::vector<std::byte>>;
Left run_fusions(const Device& device, const FusionSeeds& seeds, const PassOptions& passes,
                 std::map<std::string_view, std::size_t>& applied);

}  // namespace reprise::testing
