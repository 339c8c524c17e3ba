// Executable: what an executable graph has for itself: recordings, a state, handles, experts.
#pragma once
#include "framework/session/cache/graph_table.h"
#include "framework/session/executable/handles.h"
#include "framework/session/executable/route_rings.h"
#include "framework/session/experts/expert_runs.h"

namespace reprise {

/// Threads: one at a time. Lifetime: prepared runs keep it.
class Executable final : public std::enable_shared_from_this<Executable> {
 public:
  explicit Executable(std::shared_ptr<ExecutablePlans> plans);
  /// With handles, feeds and extent like these.
  std::shared_ptr<Executable> fork() const;

  void compile();
  /// Of so many rows, with inputs from handles where there are such.
  std::shared_ptr<Recording> recording(std::int64_t rows) {
    require_free();
    use_handles();
    return recording_for(bucket_of(rows)).shared_from_this();
  }
  void set_timing(std::optional<TimingMode> mode);
  void set_iterations(std::uint32_t iterations);
  /// Empty only if `may_wait` is false and it would have to.
  std::optional<Ticket> run(std::span<const NamedInput> inputs, bool may_wait, AfterSubmit then);
  PreparedRun prepare();
  void wait_all() const { plans_->core()->device().backend().wait(last_submission_); }
  void set_extent(std::optional<std::int64_t> rows);
  std::optional<std::int64_t> extent() const { return extent_; }

  ExecutablePlans& plans() const { return *plans_; }
  const StateBlock& state() const { return state_; }
  const Handles& handles() const { return handles_; }
  /// Errors: those of ExecutableGraph::bind; busy for rows of an extent while a run is prepared.
  void bind(std::string_view handle, std::span<const std::byte> bytes, DType dtype) {
    if (handles_.require(handle).rows) {
      require_free();
    }
    handles_.bind(handle, bytes, dtype);
  }
  /// Errors: invalid_argument if there are none.
  ExpertRuns& experts() const;
  RouteRings& routes() { return routes_; }
  /// Errors: busy while a run is prepared.
  void require_free() const;
  /// Calls f, which changes what recordings use. Errors: busy.
  template <class F>
  void change(F&& f) {
    require_free();
    f(handles_);
    forget_recordings();
  }

 private:
  friend class PreparedRun;
  void forget_recordings();
  /// By input, from handles where there are such.
  void use_handles();
  /// Of a run with these values.
  /// Errors: see ExecutableGraph::run.
  void use(std::span<const NamedInput> inputs);
  std::int64_t rows() const;
  std::int64_t bucket_of(std::int64_t rows) const;
  /// Of this run.
  std::span<std::byte> input_bytes(std::uint32_t input) const;
  /// Of these sources.
  Recording& recording_for(std::int64_t bucket);
  /// Others make room. Errors: busy if none can.
  void keep(GraphTable::Entry& entry, std::shared_ptr<Recording> recording);
  /// "(2) recordings".
  std::string bound() const {
    return "(" + std::to_string(plans_->options().max_recordings) + ") recordings";
  }
  std::shared_ptr<Recording> make_recording(const ExecutablePlans::Use& use) const;
  ExecutablePlans::Use use_of(std::int64_t bucket) const;
  /// A slot for these sources, before anything is written; false if it would have to wait.
  bool reserve(bool may_wait);
  Ticket submit(AfterSubmit then);

  std::shared_ptr<ExecutablePlans> plans_;
  StateBlock state_;
  Handles handles_;
  std::optional<std::int64_t> extent_;
  std::unique_ptr<ExpertRuns> experts_;  // null: none
  RouteRings routes_;
  std::optional<GraphTable> table_;
  CapturePool pool_;  // of the recordings' arenas
  std::optional<TimingMode> timing_;
  LaunchOptions launch_;
  // Of the run under way; kept, so that none allocates.
  std::vector<const NamedInput*> values_;  // by input
  std::vector<std::uint32_t> sources_;     // by input: the handle that gives it; kNoIndex: a value
  GraphKey key_;
  GraphTable::Entry* last_ = nullptr;  // of the last run
  std::vector<std::uint32_t> ports_;   // by input: its place in that recording; kNoIndex: a handle
  std::int64_t rows_ = 0;
  Slot* slot_ = nullptr;        // that is being filled
  std::uint64_t prepared_ = 0;  // how many runs were; the last one may be open
  std::vector<bool> given_;     // by input
  std::uint64_t last_submission_ = 0;
};

}  // namespace reprise
