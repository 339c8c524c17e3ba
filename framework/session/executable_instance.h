// ExecutableInstance: what an executable graph has for itself: state, handles, recordings.
#pragma once
#include "framework/session/executable_program.h"
#include "framework/session/expert_residency.h"
#include "framework/session/recording.h"

namespace reprise {

/// By input: the handle that it comes from, or kNoIndex for a value of the run.
using InputSources = std::vector<std::uint32_t>;

/// The recording of a bucket and sources.
struct ExecutableRecording {
  std::int64_t bucket = 0;
  InputSources sources;
  bool swapped = false;
  std::shared_ptr<Recording> recording;
  std::vector<std::uint32_t> ports;  // by input: its index in the recording; kNoIndex: a handle
};

/// Used by one thread at a time.
class ExecutableInstance final : public std::enable_shared_from_this<ExecutableInstance> {
 public:
  explicit ExecutableInstance(std::shared_ptr<ExecutableProgram> program);

  ExecutableProgram& program() const { return *program_; }
  const StateBlock& state() const { return state_; }
  /// With handles, feeds and extent like these.
  std::shared_ptr<ExecutableInstance> fork() const;

  void compile();
  /// Empty only if `may_wait` is false and it would have to.
  std::optional<Ticket> start(std::span<const NamedInput> inputs, bool may_wait, AfterSubmit then);
  /// The same before anything is written or submitted; false instead of empty.
  bool reserve(PreparedRun::State& run, std::int64_t rows, const InputSources& sources,
               bool may_wait);
  PreparedRun prepare();
  Ticket submit(PreparedRun::State& run, AfterSubmit then);
  void give_back(PreparedRun::State& run) noexcept;
  void wait_all() const { program_->core()->device().backend().wait(last_submission_); }

  void set_extent(std::optional<std::int64_t> rows);
  std::optional<std::int64_t> extent() const { return extent_; }
  /// Of so many rows.
  std::uint64_t bytes_of(std::uint32_t input, std::int64_t rows) const;

  struct HandleEntry {
    Handle info;
    Tensor tensor;
    Tensor next{};  // swap: where the next run puts the output
    bool borrowed = false;
    std::string output{};  // what feeds it; empty: nothing
    FeedOptions feed{};
  };
  void create_handle(const Handle& handle);
  const std::vector<HandleEntry>& handles() const { return handles_; }
  /// Throws unknown_name.
  const HandleEntry& handle(std::string_view name) const;
  void bind(std::string_view name, std::span<const std::byte> bytes, DType dtype);
  void bind(std::string_view name, const Tensor& tensor);
  void feed(std::string_view name, std::string_view output, const FeedOptions& options);

  void set_resident_experts(std::string_view layer, const std::vector<bool>& resident);
  void set_resident_experts(const std::vector<bool>& resident);
  std::vector<bool> resident_experts(std::string_view layer) const;
  void capture_routes(std::uint32_t runs);
  RouteCapture take_routes();
  /// `since` the call before, if one took them.
  std::vector<ExpertStats> expert_stats(bool take);

 private:
  ExpertResidency& residency() const;
  std::size_t layer_of(std::string_view layer) const;
  void end_expert_run(std::uint64_t recording);
  const ExecutableRecording& recording_for(std::int64_t rows, const InputSources& sources);
  std::shared_ptr<Recording> make_recording(const ExecutableProgram::Use& use) const;
  ExecutableProgram::Use use_of(std::int64_t bucket, const InputSources& sources) const;
  std::uint32_t handle_of(std::string_view input) const;
  /// Throws missing_input for inputs without a value and a handle.
  const InputSources& sources_of(std::span<const NamedInput> given);
  const InputSources& all_handles();
  void require_value(std::uint32_t input, const NamedInput& given) const;
  std::int64_t rows_of(std::span<const NamedInput> given) const;
  std::int64_t bucket_of(std::int64_t rows) const;
  void require_free() const;
  Tensor allocate(const Handle& handle) const;
  bool is_fed(std::string_view output) const;

  std::shared_ptr<ExecutableProgram> program_;
  StateBlock state_;
  std::vector<HandleEntry> handles_;
  std::optional<std::int64_t> extent_;
  std::vector<ExecutableRecording> made_;
  InputSources sources_;   // of the run under way: no allocation per run
  bool swapped_ = false;   // handles that swap: an odd number of times
  bool prepared_ = false;  // a slot is being filled
  std::uint64_t last_submission_ = 0;
  std::unique_ptr<ExpertResidency> residency_;  // null: no experts
  std::vector<ExpertStats> taken_;              // by layer: what take_expert_stats() told so far
  std::uint32_t route_runs_ = 0;                // of the rings; 0: nothing is captured
  std::vector<NamedTensor> route_rings_;        // by expert call of the pass
  std::uint64_t routes_from_ = 0;               // the first run that was not taken
};

struct PreparedRun::State {
  std::shared_ptr<ExecutableInstance> instance;
  std::shared_ptr<Recording> recording{};
  const std::vector<std::uint32_t>* ports = nullptr;  // see ExecutableRecording
  Slot* slot = nullptr;                               // null: submitted
  std::int64_t rows = 0;
  std::vector<bool> given{};  // by input; none: whoever runs it has seen to that

  std::span<std::byte> bytes(std::uint32_t input);
};

}  // namespace reprise
