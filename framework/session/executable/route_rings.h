// RouteRings: what the routers of an executable graph chose in its last runs, in rings on the
// device that the pass writes at its end.
#pragma once
#include <algorithm>
#include <limits>

#include "framework/session/executor/executor_core.h"
#include "framework/session/record/session.h"
#include "reprise/session/expert_store.h"
#include "reprise/session/session_options.h"
#include "reprise/session/state_block.h"

namespace reprise {

/// The field of the state that says from which row on a run writes its rings.
inline constexpr const char* kRouteRowField = "routes/row";

/// Records what keeps the choices of a pass, if `rings` are there.
void keep_routes(GraphSession& session, const std::vector<Router>& routers,
                 const std::vector<NamedTensor>& rings);

/// Threads: one.
class RouteRings {
 public:
  /// `routers`: of the largest recording.
  RouteRings(std::shared_ptr<ExecutorCore> core, std::vector<RouterCall> routers);

  /// Empty if nothing is captured.
  const std::vector<NamedTensor>& tensors() const { return rings_; }
  /// Rows of a ring are counted in i32.
  std::int64_t most_runs() const {
    return std::numeric_limits<std::int32_t>::max() / std::max<std::int64_t>(stride_, 1);
  }
  /// Of so many runs; 0: none.
  void capture(std::uint32_t runs);
  std::uint32_t captured_runs() const { return room_; }
  void begin_run(const StateBlock& state) const;
  /// `rows`: of the extent, if there is one.
  void end_run(std::int64_t rows);
  /// Errors: invalid_argument, about `executable`, if nothing is captured.
  RouteCapture take(const std::string& executable);

 private:
  std::shared_ptr<ExecutorCore> core_;
  const std::vector<RouterCall> routers_;
  std::int64_t stride_ = 0;         // rows of a ring that a run may write
  std::vector<NamedTensor> rings_;  // by router
  std::uint32_t room_ = 0;          // runs that they have room for
  std::vector<std::int64_t> rows_;  // by room: of the run that it has
  std::uint64_t runs_ = 0, taken_ = 0;
};

}  // namespace reprise
