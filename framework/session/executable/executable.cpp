#include "framework/session/executable/executable.h"

#include <algorithm>

#include "framework/core/known_names.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/replay/capture_pool_memory.h"

namespace reprise {

Executable::Executable(std::shared_ptr<ExecutablePlans> plans)
    : plans_(std::move(plans)),
      handles_(*plans_),
      routes_(plans_->core(), plans_->routers()),
      values_(plans_->inputs().size()),
      key_{.tag = plans_->options().name} {
  forget_recordings();
  if (plans_->layout().words_with_arrays() > 0) {
    state_ = StateBlock(plans_->core()->device(), plans_->layout());
  }
  if (plans_->options().experts.store) {
    experts_ = std::make_unique<ExpertRuns>(plans_->core(), plans_->options().experts,
                                            plans_->expert_calls());
  }
}

std::shared_ptr<Executable> Executable::fork() const {
  auto other = std::make_shared<Executable>(plans_);
  other->extent_ = extent_;
  other->timing_ = timing_;
  other->launch_ = launch_;
  other->handles_.add_like(handles_);
  other->routes_.capture(routes_.captured_runs());
  return other;
}

void Executable::forget_recordings() {
  last_ = nullptr;
  table_.emplace(GraphTable::Limits{.max_graphs = plans_->options().max_recordings});
  pool_ = CapturePool(plans_->core()->device());  // the other keeps what the recordings used
}

void Executable::set_timing(std::optional<TimingMode> mode) {
  timing_ = mode;
  for (const auto& entry : table_->all()) {
    if (entry->recording != nullptr) {
      entry->recording->set_timing(mode);
    }
  }
}

void Executable::set_iterations(std::uint32_t iterations) {
  const std::uint32_t most = plans_->options().max_iterations;
  if (iterations < 1 || iterations > most) {
    throw_invalid_argument(plans_->what(), " is to run its pass (", iterations,
                           ") times in a run, but 1 to ", most,
                           " are possible; see ExecutableOptions::max_iterations.");
  }
  launch_.iterations = iterations;
}

ExpertRuns& Executable::experts() const {
  if (experts_ == nullptr) {
    throw_invalid_argument(plans_->what(), " has no experts; see ExecutableOptions::experts.");
  }
  return *experts_;
}

void Executable::require_free() const {
  if (slot_ != nullptr) {
    throw_error(ErrorCode::busy, plans_->what(),
                " has a prepared run that is neither submitted nor "
                "destroyed.");
  }
}

void Executable::use_handles() {
  std::ranges::fill(values_, nullptr);
  sources_.clear();
  for (const Port& input : plans_->inputs()) {
    sources_.push_back(handles_.find(input.name));
  }
}

void Executable::use(std::span<const NamedInput> inputs) {
  use_handles();
  for (const NamedInput& given : inputs) {
    const std::uint32_t input = plans_->input_index(given.name);
    require_values(given.name, plans_->inputs()[input].spec, given.dtype, given.bytes);
    if (values_[input] != nullptr) {
      const auto values = std::ranges::count(inputs, given.name, &NamedInput::name);
      throw_invalid_argument("The input '", given.name, "' was given ", values,
                             " values; give it one.");
    }
    values_[input] = &given;
    sources_[input] = kNoIndex;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] == nullptr && sources_[i] == kNoIndex) {
      const Port& input = plans_->inputs()[i];
      throw_error(ErrorCode::missing_input, "The input '", input.name, "' ", to_string(input.spec),
                  " of the executable '", plans_->options().name,
                  "' has no value in this run, and there is no "
                  "handle of that name.");
    }
  }
}

std::int64_t Executable::bucket_of(std::int64_t rows) const {
  const std::vector<std::int64_t>& buckets = plans_->options().buckets;
  if (buckets.empty()) {
    return 0;
  }
  const auto bucket = std::ranges::lower_bound(buckets, rows);
  if (rows < 0 || bucket == buckets.end()) {
    throw_error(ErrorCode::extent_out_of_range, "The extent '", plans_->options().extent,
                "' of the executable '", plans_->options().name, "' is 0 to ", buckets.back(),
                ", its largest bucket, but (", rows, ") rows are asked for.");
  }
  return *bucket;
}

void Executable::set_extent(std::optional<std::int64_t> rows) {
  if (rows && plans_->options().buckets.empty()) {
    throw_invalid_argument(plans_->what(),
                           " has no extent; name one, with buckets, in ExecutableOptions::extent.");
  }
  if (rows) {
    bucket_of(*rows);
  }
  extent_ = rows;
}

std::int64_t Executable::rows() const {
  if (plans_->options().buckets.empty()) {
    return 0;
  }
  std::optional<std::int64_t> rows = extent_;
  const Port* first = nullptr;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Port& input = plans_->inputs()[i];
    const bool given = values_[i] != nullptr;
    if (input.spec.shape.fixed() || (!given && sources_[i] == kNoIndex)) {
      continue;
    }
    const std::int64_t has = given ? rows_given(input.spec, values_[i]->bytes)
                                   : handles_.all()[sources_[i]].rows.value_or(0);
    if (extent_ ? has < *extent_ : rows && has != *rows) {
      throw_error(ErrorCode::size_mismatch, "The input '", input.name, "' has (", has,
                  ") rows, but ",
                  (extent_ ? "the active extent is " + std::to_string(*extent_) + "."
                           : "'" + first->name + "' " + std::to_string(*rows) + "."));
    }
    if (!rows) {
      rows = has;
      first = &input;
    }
  }
  return rows.value_or(plans_->options().buckets.back());
}

ExecutablePlans::Use Executable::use_of(std::int64_t bucket) const {
  ExecutablePlans::Use use{.bucket = bucket, .state = state_};
  if (experts_ != nullptr) {
    use.own = use.experts = experts_->residency().tensors();
  }
  use.rings = routes_.tensors();
  use.own.insert(use.own.end(), use.rings.begin(), use.rings.end());
  const std::vector<Port>& inputs = plans_->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sources_[i] != kNoIndex) {
      const Tensor& memory = handles_.all()[sources_[i]].tensor;
      use.handles.push_back({inputs[i].name, rows_for(memory, inputs[i].spec, bucket)});
    }
  }
  for (const Handles::Entry& handle : handles_.all()) {
    use.shares_plan = use.shares_plan && !handle.borrowed;
    if (!handle.borrowed) {
      use.own.push_back({"handle " + handle.info.name, handle.tensor});
    }
    if (handle.swaps()) {
      use.own.push_back({"next " + handle.info.name, handle.next});
    }
    if (handle.output.empty()) {
      continue;
    }
    // What a run is given instead of the handle is not its memory: the result has to be copied.
    const std::uint32_t input = index_named(inputs, handle.info.name, &Port::name);
    const bool given = input != kNoIndex && sources_[input] == kNoIndex;
    const FeedMode mode =
        given && handle.feed.mode == FeedMode::in_place ? FeedMode::copy : handle.feed.mode;
    const Tensor& memory = handle.swaps() ? handle.next : handle.tensor;
    use.targets.push_back(
        {handle.output, rows_for(memory, plans_->output(handle.output).spec, bucket), mode});
  }
  return use;
}

std::shared_ptr<Recording> Executable::make_recording(const ExecutablePlans::Use& use) const {
  const std::shared_ptr<const PassPlan> plan = plans_->plan_for(use);
  Recording::Options options{.slots = plans_->options().slots,
                             .outputs = std::vector<std::uint32_t>(),
                             .context = experts_ == nullptr ? nullptr : &experts_->residency()};
  const std::vector<Port>& outputs = plan->graph().outputs;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    if (!handles_.feeds_alone(outputs[i].name)) {
      options.outputs->push_back(i);
    }
  }
  FinishReport report = plan->report;
  // The first arena is large enough for all.
  pool_.memory().admit(plans_->core()->device(), plans_->options().name, plans_->arena_bytes(), {});
  auto recording = Recording::make(
      plans_->core(), *plan, {.state = state_, .own = use.own, .pool = pool_}, options, report);
  recording->set_timing(timing_);
  recording->reporter().enter(plan->session, report, recording->memory(), "");
  return recording;
}

void Executable::keep(GraphTable::Entry& entry, std::shared_ptr<Recording> recording) {
  std::vector<GraphTable::Gone> gone;
  if (!table_->keep(entry, std::move(recording), gone)) {
    throw_error(ErrorCode::busy, plans_->what(), " keeps at most ", bound(),
                ", and all of them run or have outputs that tickets hold.");
  }
  for (const GraphTable::Gone& old : gone) {
    old.recording->reporter().ended(old.reason, "");
    last_ = nullptr;
  }
}

Recording& Executable::recording_for(std::int64_t bucket) {
  key_.bucket.assign({bucket, handles_.swapped() ? 1 : 0});
  key_.bucket.insert(key_.bucket.end(), sources_.begin(), sources_.end());
  const std::shared_ptr<GraphTable::Entry> entry = table_->entry(key_);
  if (entry->recording == nullptr) {
    keep(*entry, make_recording(use_of(bucket)));
  }
  if (last_ != entry.get()) {
    last_ = entry.get();
    ports_.clear();
    const std::vector<Port>& ports = entry->recording->graph().inputs;
    for (const Port& input : plans_->inputs()) {
      ports_.push_back(index_named(ports, input.name, &Port::name));
    }
  }
  return *entry->recording;
}

void Executable::compile() {
  require_free();
  use_handles();
  const std::vector<std::int64_t> buckets = plans_->buckets();
  const bool swaps = std::ranges::any_of(handles_.all(), &Handles::Entry::swaps);
  const std::size_t needed = buckets.size() * (swaps ? 2 : 1);
  if (needed > plans_->options().max_recordings) {
    throw_invalid_argument(plans_->what(), " needs (", needed, ") recordings, but keeps at most ",
                           bound(), ".");
  }
  const bool swapped = handles_.swapped();
  try {
    do {
      for (const std::int64_t bucket : buckets) {
        recording_for(bucket).upload();
      }
      handles_.swap();  // as every other run finds them
    } while (handles_.swapped() != swapped);
  } catch (...) {
    if (handles_.swapped() != swapped) {
      handles_.swap();
    }
    throw;
  }
}

bool Executable::reserve(bool may_wait) {
  rows_ = rows();
  slot_ = recording_for(bucket_of(rows_)).reserve(may_wait);
  return slot_ != nullptr;
}

std::span<std::byte> Executable::input_bytes(std::uint32_t input) const {
  const TensorSpec& spec = plans_->inputs()[input].spec;
  std::uint64_t bytes = spec.bytes();
  if (!spec.shape.fixed()) {
    bytes =
        bytes / static_cast<std::uint64_t>(spec.shape.dim(0)) * static_cast<std::uint64_t>(rows_);
  }
  return {slot_->exchange().input_bytes(ports_[input]), bytes};
}

std::optional<Ticket> Executable::run(std::span<const NamedInput> inputs, bool may_wait,
                                      AfterSubmit then) {
  require_free();
  plans_->require_params();
  use(inputs);
  if (!reserve(may_wait)) {
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i] != nullptr) {
      const std::span<std::byte> to = input_bytes(i);
      std::ranges::copy(values_[i]->bytes.first(to.size()), to.begin());
    }
  }
  return submit(then);
}

Ticket Executable::submit(AfterSubmit then) {
  const std::string& field = plans_->options().extent;
  Slot& slot = *std::exchange(slot_, nullptr);
  try {
    if (!field.empty()) {
      state_.set(field, static_cast<std::int32_t>(rows_));
    }
    if (experts_ != nullptr) {
      experts_->residency().begin_run();
    }
    routes_.begin_run(state_);
  } catch (...) {
    slot.give_back();
    throw;
  }
  Recording& recording = *last_->recording;
  Ticket ticket = recording.submit(slot, launch_, then, now_ns());
  last_submission_ = slot.times().submission;
  if (experts_ != nullptr) {
    experts_->end_run({.recording = recording.reporter().id(),
                       .idle_ns = recording.host_steps().expert_idle_ns(),
                       .rows = rows_,
                       .iterations = experts_->stops() ? ticket.iterations() : launch_.iterations});
  }
  routes_.end_run(rows_);
  if (rows_ > 0 || field.empty()) {
    handles_.ran(rows_);
  }
  return ticket;
}

PreparedRun Executable::prepare() {
  require_free();
  plans_->require_params();
  use_handles();
  reserve(true);
  given_.assign(plans_->inputs().size(), false);
  return {shared_from_this(), ++prepared_};
}

}  // namespace reprise
