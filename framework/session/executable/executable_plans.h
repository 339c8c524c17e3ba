// ExecutablePlans: what an executable graph and its forks share: the pass, the params, and a plan
// for each bucket and each way its handles are used.
#pragma once
#include <map>
#include <set>

#include "framework/session/executor/executor_core.h"
#include "framework/session/executor/pass_mutex.h"
#include "framework/session/record/recorded_session.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/executable_graph.h"

namespace reprise {

/// Thread-safe.
class ExecutablePlans {
 public:
  ExecutablePlans(std::shared_ptr<ExecutorCore> core, RecordFunction pass,
                  ExecutableOptions options);

  /// An output that goes into a handle.
  struct Target {
    std::string output;
    Tensor tensor;
    FeedMode mode = FeedMode::copy;
  };
  /// What a recording is made for.
  struct Use {
    std::int64_t bucket = 0;  // 0: shapes are fixed
    StateBlock state{};
    std::vector<NamedTensor> handles{};  // inputs that come from one
    std::vector<Target> targets{};
    std::vector<NamedTensor> experts{};  // tables and cells
    std::vector<NamedTensor> rings{};    // of routes that are kept
    std::vector<NamedTensor> own{};      // all memory of the instance: see StorageOrigin::own
    bool shares_plan = true;             // false: a handle has memory of the caller's
  };
  /// Calls the pass if there is no such plan.
  std::shared_ptr<const PassPlan> plan_for(const Use& use);

  const std::shared_ptr<ExecutorCore>& core() const { return core_; }
  const ExecutableOptions& options() const { return options_; }
  /// "The executable 'llama'".
  const std::string& what() const { return what_; }
  /// Options with what was left out filled in: the extent is a field of the layout.
  const StateLayout& layout() const { return options_.state; }
  /// Of the recordings: 0 alone where shapes are fixed.
  std::vector<std::int64_t> buckets() const {
    return options_.buckets.empty() ? std::vector<std::int64_t>{0} : options_.buckets;
  }
  const std::vector<Port>& inputs() const { return largest_->graph().inputs; }
  const std::vector<Port>& outputs() const { return largest_->graph().outputs; }
  /// Of each layer whose experts the pass uses, the same in every recording.
  const std::vector<ExpertCall>& expert_calls() const { return largest_->expert_calls; }
  /// Of the largest recording.
  const std::vector<RouterCall>& routers() const { return largest_->routers; }
  bool may_keep_routes() const { return options_.routes || options_.experts.store; }
  /// Throws unknown_name.
  std::uint32_t input_index(std::string_view name) const;
  const Port& output(std::string_view name) const;
  std::size_t recordings() const;
  /// Of the largest bucket, without handles: what recordings of all of them fit in, about.
  std::uint64_t arena_bytes() const { return largest_->execution->arena_bytes; }
  /// Throws missing_input, naming it, if a param of the pass is not set.
  void require_params() const;

 private:
  void check_options();
  std::shared_ptr<const PassPlan> make_plan(const Use& use);
  /// Throws invalid_argument if a pass depends on the bucket in what runs are given, or keep.
  void require_same(const Use& use, const PassPlan& plan) const;
  void place(GraphSession& session, RecordedSession& recorded, const Target& target) const;

  std::shared_ptr<ExecutorCore> core_;
  RecordFunction pass_;
  ExecutableOptions options_;
  const std::string what_;
  std::set<std::string> param_names_;
  mutable PassMutex mutex_;  // also held while the pass runs
  std::map<std::string, std::shared_ptr<const PassPlan>> plans_;
  std::shared_ptr<const PassPlan> largest_;  // of the last bucket, without handles
  std::size_t recordings_ = 0;
};

}  // namespace reprise
