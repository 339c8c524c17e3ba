// Session: one pass being recorded, behind the door GraphSession. Direct and recorded ones differ
// in what becomes of a node, and of all of them in the end.
#pragma once
#include <string>
#include <vector>

#include "framework/session/executor/executor_core.h"
#include "framework/session/record/graph_capture.h"
#include "framework/session/replay/pass_plan.h"
#include "framework/session/state/iteration_rows.h"
#include "reprise/session/graph_session.h"

namespace reprise {

/// Who chose experts, and what.
struct Router {
  std::string name;
  Tensor ids;
};

class RepeatedCalls;

/// Threads: one. Lifetime: of its GraphSession; unfinished, it is discarded and reported.
class Session {
 public:
  enum class InputValues : std::uint8_t {
    given,       // by the pass, or by SessionOptions::inputs
    with_call,   // by SessionOptions::inputs alone: the pass is kept under a key
    by_launches  // by nobody yet
  };
  /// What a session is for, beside its options.
  struct Purpose {
    InputValues inputs = InputValues::given;
    std::string key_json{};                  // of the graph, for the database
    std::shared_ptr<HostContext> experts{};  // cells of its own, whose tensors are in the options
    bool notes_routers = false;
  };
  /// `recorded`: it becomes a graph.
  Session(std::shared_ptr<ExecutorCore> core, SessionOptions options, bool recorded,
          Purpose purpose);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session();

  /// Checks the options; records what comes first in every launch: patches and derived fields.
  void begin(Recorder& recorder);
  Tensor input(std::string_view name, const TensorSpec& spec, std::span<const std::byte> values);
  /// Its values, or its tensor, are those of the options.
  Tensor input(std::string_view name, const TensorSpec& spec);
  Tensor param(std::string_view name, const Shape& shape, DType dtype);
  void output(std::string_view name, const Tensor& tensor);
  void append(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
              bool arguments_unordered, std::span<Tensor> results);
  StateField find_state(std::string_view field) const;
  Extent find_extent(std::string_view field) const;
  Tensor find_block() const;
  Tensor find_array(std::string_view array);

  virtual FinishResult finish(Recorder& recorder, const FinishOptions& options) = 0;
  virtual Ticket submit(Recorder& recorder) = 0;
  /// Nothing was finished. `why`: for the database; empty: nobody wanted it.
  void discard(const std::string& why);

  ExecutorCore& core() const { return *core_; }
  const SessionOptions& options() const { return options_; }
  GraphCapture& builder() { return builder_; }
  std::uint32_t op_count() const { return ops_; }
  bool is_finished() const { return finished_; }
  /// What it recorded is a plan: what fails from here on is no fault of the pass.
  bool is_planned() const { return planned_; }
  bool has_experts() const {
    return purpose_.inputs != InputValues::with_call && static_cast<bool>(options_.experts.store);
  }
  /// Whether misses of experts stop an iteration, which goes on once they are served. Without a
  /// state, and in direct sessions, a host step waits in front of every layer.
  bool stops_at_misses() const { return static_cast<bool>(rows_.iteration) && has_few_cells(); }
  const Tensor& iteration() const { return rows_.iteration; }
  /// Where its experts are; null: each graph that runs the plan has a context of its own.
  const std::shared_ptr<HostContext>& own_experts() const { return purpose_.experts; }
  std::vector<ExpertCall>& expert_calls() { return expert_calls_; }
  /// Adds every call of the session to `calls`, while it lives.
  class HeardCalls {
   public:
    HeardCalls(Session& session, RepeatedCalls& calls) : session_(session) {
      session_.heard_ = &calls;
    }
    HeardCalls(const HeardCalls&) = delete;
    HeardCalls& operator=(const HeardCalls&) = delete;
    ~HeardCalls() { session_.heard_ = nullptr; }

   private:
    Session& session_;
  };
  const std::vector<Router>& routers() const { return routers_; }
  /// The router of these ids has this name; one that had it gets another.
  void name_router(const std::string& name, const Tensor& ids);
  const std::vector<std::string>& param_names() const { return param_names_; }
  void set_key(std::string json) { purpose_.key_json = std::move(json); }

 protected:
  /// Fewer than experts, and misses are uploaded.
  bool has_few_cells() const;
  /// Options that this kind of session does not have.
  virtual void require_options() const = 0;
  /// Throws invalid_argument if more than one iteration per launch is asked for and not possible.
  void require_iterations(bool possible) const;
  virtual void begin_extents() {}
  /// Whether the stop field of the state ends it: only passes with iterations or extents. Misses of
  /// experts alone do not make a pass look at it.
  bool looks_at_stop() const { return options_.max_iterations > 1 || !options_.extents.empty(); }
  /// Whether nodes read on the device whether they run.
  virtual bool has_iteration() const { return false; }
  virtual void added_input(std::uint32_t /*tensor*/, std::span<const std::byte> /*values*/) {}
  /// After every node.
  virtual void recorded(bool host_step) = 0;
  /// For the database.
  SessionRecord record() const;

  /// Runs what ends the session.
  template <class F>
  auto end(Recorder& recorder, F&& f) {
    begin_end(recorder);
    try {
      return f();
    } catch (const Error& cause) {
      report_error(cause);
      throw;
    }
  }
  void report(const FinishReport& report, std::string outcome);
  /// The graph is complete: it gets the fields of the state, and the arrays behind them.
  void keep_state_fields();

  std::shared_ptr<ExecutorCore> core_;
  SessionOptions options_;
  bool recorded_;
  Purpose purpose_;
  GraphCapture builder_;
  IterationRows rows_;
  std::vector<std::vector<std::byte>> input_values_;  // by input of the graph
  std::vector<Tensor> outputs_;  // by output; keep a direct session from reusing their memory
  std::vector<std::string> param_names_;
  std::vector<ExpertCall> expert_calls_;
  std::vector<Router> routers_;
  RepeatedCalls* heard_ = nullptr;
  std::int64_t begin_ns_;
  std::uint64_t profile_id_ = 0;
  std::uint32_t ops_ = 0;  // without views
  bool finished_ = false, planned_ = false;
  bool reported_ = false;  // the database has the session, or its submission sends it

 private:
  void append_node(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
                   bool arguments_unordered, std::span<Tensor> results);
  void record_plan_op(Recorder& recorder);
  Tensor add_input(std::string_view name, const TensorSpec& spec, DType dtype,
                   std::span<const std::byte> values);
  /// Two that want one name are told apart: "layer.0", "layer.0#2".
  std::string free_router_name(const std::string& wanted) const;
  void keep_host_step(HostStep& step);
  void require_all_inputs_used() const;
  void begin_end(Recorder& recorder);
  void report_error(const Error& error);
};

/// Throws shape_mismatch or dtype_mismatch, about `what`.
void require_same_spec(const std::string& what, const TensorSpec& spec, const TensorSpec& tensor);

}  // namespace reprise
