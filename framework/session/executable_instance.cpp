#include "framework/session/executable_instance.h"

#include <algorithm>

#include "framework/session/expert_recording.h"
#include "framework/session/host_clock.h"

namespace reprise {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& message) { throw Error(code, message); }

std::int64_t rows_in(const Port& input, std::span<const std::byte> bytes) {
  return rows_given(input.spec, bytes);
}

bool swaps(const ExecutableInstance::HandleEntry& handle) {
  return !handle.output.empty() && handle.feed.mode == FeedMode::swap;
}

}  // namespace

ExecutableInstance::ExecutableInstance(std::shared_ptr<ExecutableProgram> program)
    : program_(std::move(program)) {
  if (program_->layout().words_with_arrays() > 0) {
    state_ = StateBlock(program_->core()->device(), program_->layout());
  }
  if (program_->options().experts.store) {
    residency_ =
        std::make_unique<ExpertResidency>(program_->core()->device(), program_->options().experts);
  }
}

std::shared_ptr<ExecutableInstance> ExecutableInstance::fork() const {
  auto other = std::make_shared<ExecutableInstance>(program_);
  other->extent_ = extent_;
  if (route_runs_ != 0) {
    other->capture_routes(route_runs_);
  }
  for (const HandleEntry& entry : handles_) {
    HandleEntry own{.info = entry.info, .tensor = allocate(entry.info)};
    own.output = entry.output;
    own.feed = entry.feed;
    if (swaps(own)) {
      own.next = allocate(entry.info);
    }
    other->handles_.push_back(std::move(own));
  }
  return other;
}

void ExecutableInstance::require_free() const {
  if (prepared_) {
    throw Error(ErrorCode::busy,
                "The executable '" + program_->options().name +
                    "' has a prepared run that is neither submitted nor destroyed.");
  }
}

std::uint64_t ExecutableInstance::bytes_of(std::uint32_t input, std::int64_t rows) const {
  const TensorSpec& spec = program_->inputs()[input].spec;
  return spec.shape.fixed() ? spec.bytes()
                            : spec.bytes() / static_cast<std::uint64_t>(spec.shape.dim(0)) *
                                  static_cast<std::uint64_t>(rows);
}

std::uint32_t ExecutableInstance::handle_of(std::string_view input) const {
  const auto it = std::ranges::find(
      handles_, input, [](const HandleEntry& entry) { return std::string_view(entry.info.name); });
  return it == handles_.end() ? kNoIndex : static_cast<std::uint32_t>(it - handles_.begin());
}

const InputSources& ExecutableInstance::all_handles() {
  sources_.clear();
  for (const Port& input : program_->inputs()) {
    sources_.push_back(handle_of(input.name));
  }
  return sources_;
}

const InputSources& ExecutableInstance::sources_of(std::span<const NamedInput> given) {
  all_handles();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Port& input = program_->inputs()[i];
    const auto values = std::ranges::count(given, input.name, &NamedInput::name);
    if (values > 1) {
      throw_invalid_argument("The input '" + input.name + "' was given " + std::to_string(values) +
                             " values; give it one.");
    }
    if (values == 1) {
      sources_[i] = kNoIndex;
    } else if (sources_[i] == kNoIndex) {
      fail(ErrorCode::missing_input, "The input '" + input.name + "' " + to_string(input.spec) +
                                         " of the executable '" + program_->options().name +
                                         "' has no value in this run, and there is no handle of "
                                         "that name.");
    }
  }
  return sources_;
}

std::int64_t ExecutableInstance::bucket_of(std::int64_t rows) const {
  const std::vector<std::int64_t>& buckets = program_->options().buckets;
  if (buckets.empty()) {
    return 0;
  }
  const auto bucket = std::ranges::lower_bound(buckets, rows);
  if (rows < 0 || bucket == buckets.end()) {
    fail(ErrorCode::extent_out_of_range,
         "The extent '" + program_->options().extent + "' of the executable '" +
             program_->options().name + "' is 0 to " + std::to_string(buckets.back()) +
             ", its largest bucket, but (" + std::to_string(rows) + ") rows are asked for.");
  }
  return *bucket;
}

void ExecutableInstance::set_extent(std::optional<std::int64_t> rows) {
  if (rows && program_->options().buckets.empty()) {
    throw_invalid_argument(
        "The executable '" + program_->options().name +
        "' has no extent; name one in ExecutableOptions::extent, with its buckets.");
  }
  if (rows) {
    bucket_of(*rows);
  }
  extent_ = rows;
}

std::int64_t ExecutableInstance::rows_of(std::span<const NamedInput> given) const {
  if (program_->options().buckets.empty()) {
    return 0;
  }
  std::optional<std::int64_t> rows = extent_;
  const NamedInput* first = nullptr;
  for (const NamedInput& value : given) {
    const Port& input = program_->inputs()[program_->input_index(value.name)];
    if (input.spec.shape.fixed()) {
      continue;
    }
    const std::int64_t has = rows_in(input, value.bytes);
    if (extent_ ? has < *extent_ : rows && has != *rows) {
      fail(ErrorCode::size_mismatch,
           "The input '" + input.name + "' was given (" + std::to_string(has) + ") rows, but " +
               (extent_ ? "the active extent is " + std::to_string(*extent_) + "."
                        : "'" + std::string(first->name) + "' " + std::to_string(*rows) + "."));
    }
    if (!rows) {
      rows = has;
      first = &value;
    }
  }
  return rows.value_or(program_->options().buckets.back());
}

ExecutableProgram::Use ExecutableInstance::use_of(std::int64_t bucket,
                                                  const InputSources& sources) const {
  ExecutableProgram::Use use{.bucket = bucket, .state = state_};
  if (residency_ != nullptr) {
    use.experts = residency_->tensors();
    use.experts.insert(use.experts.end(), route_rings_.begin(), route_rings_.end());
    use.own = use.experts;
  }
  const std::vector<Port>& inputs = program_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sources[i] != kNoIndex) {
      use.handles.push_back({inputs[i].name, handles_[sources[i]].tensor});
    }
  }
  for (const HandleEntry& handle : handles_) {
    use.shares_plan = use.shares_plan && !handle.borrowed;
    if (!handle.borrowed) {
      use.own.push_back({"handle " + handle.info.name, handle.tensor});
    }
    if (handle.next) {
      use.own.push_back({"next " + handle.info.name, handle.next});
    }
    if (handle.output.empty()) {
      continue;
    }
    // What a run is given instead of the handle is not its memory: the result has to be copied.
    const bool given = std::ranges::any_of(inputs, [&](const Port& input) {
      return input.name == handle.info.name &&
             sources[static_cast<std::size_t>(&input - inputs.data())] == kNoIndex;
    });
    const FeedMode mode =
        given && handle.feed.mode == FeedMode::in_place ? FeedMode::copy : handle.feed.mode;
    use.targets.push_back({handle.output, swaps(handle) ? handle.next : handle.tensor, mode});
  }
  return use;
}

bool ExecutableInstance::is_fed(std::string_view output) const {
  return std::ranges::any_of(handles_, [&](const HandleEntry& handle) {
    return handle.output == output && !handle.feed.to_host;
  });
}

std::shared_ptr<Recording> ExecutableInstance::make_recording(
    const ExecutableProgram::Use& use) const {
  const std::shared_ptr<const PassPlan> plan = program_->plan_for(use);
  Recording::Options options{.slots = program_->options().slots,
                             .outputs = std::vector<std::uint32_t>(),
                             .context = residency_.get()};
  const std::vector<Port>& outputs = plan->graph().outputs;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    if (!is_fed(outputs[i].name)) {
      options.outputs->push_back(i);
    }
  }
  FinishReport report = plan->report;
  auto recording =
      Recording::make(program_->core(), *plan, {.state = state_, .own = use.own}, options, report);
  recording->reporter().enter(plan->session, report, recording->memory(), "");
  return recording;
}

const ExecutableRecording& ExecutableInstance::recording_for(std::int64_t rows,
                                                             const InputSources& sources) {
  const std::int64_t bucket = bucket_of(rows);
  for (const ExecutableRecording& made : made_) {
    if (made.bucket == bucket && made.swapped == swapped_ && made.sources == sources) {
      return made;
    }
  }
  ExecutableRecording made{bucket, sources, swapped_, make_recording(use_of(bucket, sources)), {}};
  const std::vector<Port>& ports = made.recording->graph().inputs;
  for (const Port& input : program_->inputs()) {
    const auto port = std::ranges::find(ports, input.name, &Port::name);
    made.ports.push_back(port == ports.end() ? kNoIndex
                                             : static_cast<std::uint32_t>(port - ports.begin()));
  }
  made_.push_back(std::move(made));
  return made_.back();
}

void ExecutableInstance::compile() {
  require_free();
  const std::vector<std::int64_t>& buckets = program_->options().buckets;
  for (std::size_t i = 0; i < std::max<std::size_t>(buckets.size(), 1); ++i) {
    recording_for(buckets.empty() ? 0 : buckets[i], all_handles()).recording->upload();
  }
}

bool ExecutableInstance::reserve(PreparedRun::State& run, std::int64_t rows,
                                 const InputSources& sources, bool may_wait) {
  const ExecutableRecording& made = recording_for(rows, sources);
  run.slot = made.recording->reserve(may_wait);
  run.recording = made.recording;
  run.ports = &made.ports;  // nothing is recorded while a run is prepared
  run.rows = rows;
  prepared_ = run.slot != nullptr;
  return prepared_;
}

std::optional<Ticket> ExecutableInstance::start(std::span<const NamedInput> inputs, bool may_wait,
                                                AfterSubmit then) {
  require_free();
  program_->require_params();
  for (const NamedInput& given : inputs) {
    require_values(given.name, program_->inputs()[program_->input_index(given.name)].spec,
                   given.dtype, given.bytes);
  }
  const InputSources& sources = sources_of(inputs);
  PreparedRun::State run{.instance = shared_from_this()};
  if (!reserve(run, rows_of(inputs), sources, may_wait)) {
    return std::nullopt;
  }
  for (const NamedInput& given : inputs) {
    const std::span<std::byte> to = run.bytes(program_->input_index(given.name));
    std::ranges::copy(given.bytes.first(to.size()), to.begin());
  }
  return submit(run, then);
}

PreparedRun ExecutableInstance::prepare() {
  require_free();
  program_->require_params();
  auto run = std::make_unique<PreparedRun::State>();
  run->instance = shared_from_this();
  run->given.resize(program_->inputs().size());
  reserve(*run, rows_of({}), all_handles(), true);
  return PreparedRun(std::move(run));
}

Ticket ExecutableInstance::submit(PreparedRun::State& run, AfterSubmit then) {
  if (!program_->options().extent.empty()) {
    state_.set(program_->options().extent, static_cast<std::int32_t>(run.rows));
  }
  if (residency_ != nullptr) {
    residency_->begin_run();
    if (route_runs_ != 0) {
      state_.set(kExpertRunField, static_cast<std::int32_t>(residency_->runs() % route_runs_));
    }
  }
  Slot* slot = std::exchange(run.slot, nullptr);
  prepared_ = false;
  Ticket ticket = run.recording->submit(*slot, {}, then, now_ns());
  last_submission_ = slot->times().submission;
  if (residency_ != nullptr) {
    end_expert_run(run.recording->reporter().id());
  }
  if (run.rows > 0 || program_->options().extent.empty()) {
    bool any = false;
    for (HandleEntry& handle : handles_) {
      if (swaps(handle)) {
        std::swap(handle.tensor, handle.next);
        any = true;
      }
    }
    swapped_ = swapped_ != any;
  }
  return ticket;
}

void ExecutableInstance::give_back(PreparedRun::State& run) noexcept {
  if (run.slot != nullptr) {
    std::exchange(run.slot, nullptr)->give_back();
    prepared_ = false;
  }
}

}  // namespace reprise
