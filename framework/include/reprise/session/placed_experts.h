// PlacedExperts: the experts that have a cell while a pass computes with them.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "reprise/core/recorder.h"
#include "reprise/session/expert_store.h"

namespace reprise {

class GraphSession;

/// Valid inside the function that GraphSession::experts calls.
class PlacedExperts {
 public:
  /// matmul_experts with the weights of a projection: x [rows, used, k] or [rows, 1, k] gives
  /// [rows, used, m]. Throws unknown_name for a projection that the layer has not.
  [[nodiscard]] Tensor matmul(Site site, const Tensor& x, std::string_view projection) const;

 private:
  friend class ExpertRecording;
  struct State;
  explicit PlacedExperts(State& state) : state_(&state) {}
  State* state_;
};

/// What a layer computes of its rows: calls projections, returns [rows, used, m].
using ExpertFunction = std::function<Tensor(const PlacedExperts&)>;

}  // namespace reprise
