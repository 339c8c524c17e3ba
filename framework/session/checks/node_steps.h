// NodeSteps: the steps of a plan by the node they came from.
#pragma once
#include <vector>

#include "reprise/backend/step.h"

namespace reprise {

class NodeSteps {
 public:
  NodeSteps(const StepList& steps, std::size_t nodes) : first_(nodes + 1) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      ++first_[steps[s].node + 1];
    }
    for (std::size_t n = 0; n < nodes; ++n) {
      first_[n + 1] += first_[n];
    }
  }
  std::uint32_t first(std::uint32_t node) const { return first_[node]; }
  std::uint32_t count(std::uint32_t node) const { return first_[node + 1] - first_[node]; }

 private:
  std::vector<std::uint32_t> first_;  // by node, and one past the end
};

}  // namespace reprise
