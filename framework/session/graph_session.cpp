#include "reprise/session/graph_session.h"

#include "framework/session/direct_run.h"
#include "framework/session/direct_submission.h"
#include "framework/session/host_clock.h"
#include "framework/session/recording.h"
#include "reprise/ops/plan.h"

namespace reprise {
namespace {

std::string name_or(std::string name, GraphSession::Mode mode) {
  if (!name.empty()) {
    return name;
  }
  return mode == GraphSession::Mode::direct ? "direct" : "recorded";
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<ExecutorCore> core, Mode mode, SessionOptions options)
    : core_(std::move(core)), options_(std::move(options)), mode_(mode), begin_ns_(now_ns()) {
  options_.name = name_or(std::move(options_.name), mode);
  owner_ = core_->next_owner();
  capture_ = std::make_unique<GraphCapture>(options_.name, owner_);
  const GraphSizes expected = core_->last_sizes();
  capture_->reserve(expected);
  if (mode_ == Mode::direct) {
    direct_ = std::make_unique<DirectRun>(core_, options_.name, expected);
  }
  if (options_.state) {
    record_plan_op();
  }
}

GraphSession::~GraphSession() {
  if (phase_ == Phase::recording) {
    try {
      report_session({}, reason().empty() ? "discarded" : reason());
    } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
    }
  }
}

/// Patches and derived fields come first in every launch.
void GraphSession::record_plan_op() {
  const StateLayout& layout = options_.state.layout();
  if (layout.carried_count() + layout.derived_count() == 0) {
    return;
  }
  const auto& memory = *options_.state.memory_;
  plan(*this, memory.block, memory.patch, memory.table,
       {.carried_first = static_cast<std::int32_t>(layout.host_count()),
        .carried_count = static_cast<std::int32_t>(layout.carried_count()),
        .derived_count = static_cast<std::int32_t>(layout.derived_count())});
}

template <class F>
auto GraphSession::in_context(std::string_view what, F&& f) {
  try {
    require_usable();
    return f();
  } catch (const Error& cause) {
    fail(what, {}, cause);
  }
}

void GraphSession::require_open() const {
  if (phase_ == Phase::finished) {
    invalid("The session '" + options_.name + "' is finished; begin another one.");
  }
}

Tensor GraphSession::input(std::string_view name, const Shape& shape,
                           std::span<const float> values) {
  return input(name, shape, DType::f32, std::as_bytes(values));
}

Tensor GraphSession::input(std::string_view name, const Shape& shape,
                           std::span<const std::int32_t> values) {
  return input(name, shape, DType::i32, std::as_bytes(values));
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, DType dtype,
                           std::span<const std::byte> bytes) {
  return in_context("input", [&] {
    const TensorSpec spec(shape, dtype);
    if (bytes.size() != spec.bytes()) {
      invalid("The input '" + std::string(name) + "' " + to_string(spec) + " has " +
              std::to_string(spec.bytes()) + " bytes, but got (" + std::to_string(bytes.size()) +
              ").");
    }
    const ComputeGraph& graph = capture_->graph();
    for (const auto& [tensor, known] : input_bytes_) {
      if (graph.names.text(graph.tensors[tensor].name) == name) {
        invalid("The session has an input '" + std::string(name) + "' already.");
      }
    }
    Tensor tensor = capture_->add_input(name, spec);
    const std::uint32_t index = TensorRef(tensor)->index;
    input_bytes_.emplace(index, std::vector<std::byte>(bytes.begin(), bytes.end()));
    if (direct_ != nullptr) {
      direct_->place(graph, graph.tensors[index].storage);
    }
    return tensor;
  });
}

void GraphSession::output(std::string_view name, const Tensor& tensor) {
  in_context("output", [&] {
    const TensorRef ref(tensor);
    if (!ref) {
      invalid("The output '" + std::string(name) + "' is an empty tensor.");
    }
    if (ref->slab->owner() != 0 && ref->slab->owner() != owner_) {
      invalid("The output '" + std::string(name) + "' is a transient of another session.");
    }
    if (!ref.spec().contiguous()) {
      invalid("The output '" + std::string(name) + "' " + to_string(ref.spec()) +
              " is a strided view; call copy first.");
    }
    for (const NamedOutput& known : outputs_) {
      if (known.name == name) {
        invalid("The session has an output '" + std::string(name) + "' already.");
      }
    }
    const std::uint32_t index = capture_->index_of(ref);
    ComputeGraph& graph = capture_->graph();
    GraphTensor& entry = graph.tensors[index];
    graph.storages[entry.storage].output = true;
    if (entry.role == TensorRole::activation) {
      entry.role = TensorRole::output;
      entry.name = graph.names.intern(name);
    }
    outputs_.push_back({std::string(name), index, tensor});
  });
}

Tensor GraphSession::state_block() {
  if (!options_.state) {
    invalid("The session has no state block; begin it with {.state = ...}.");
  }
  return options_.state.memory_->block;
}

StateField GraphSession::find_state(std::string_view field) const {
  const StateFieldInfo* info = options_.state ? options_.state.layout().find(field) : nullptr;
  if (info == nullptr) {
    invalid("The session's state has no field (" + std::string(field) + "); its fields are: " +
            (options_.state ? options_.state.layout().names() : "none") + ".");
  }
  return {info->word, info->dtype};
}

void GraphSession::append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) {
  if (call.op.view) {
    results[0] = capture_->add_view(call, outputs);
    return;
  }
  std::uint32_t state = kNoIndex;
  if (call.op.reads_state()) {
    const Tensor& block = options_.state ? options_.state.memory_->block : core_->empty_state();
    state = capture_->index_of(block);
    capture_->graph().state_tensor = state;
    capture_->graph().tensors[state].role = TensorRole::state;
  }
  capture_->add_node(call, outputs, current_scope_, state, results);
  ++ops_;
  if (direct_ != nullptr) {
    direct_->encode_node(*capture_);
  } else {
    capture_->collect_dead([](std::uint32_t) {});
  }
}

FinishResult GraphSession::finish(const FinishOptions& options) {
  return in_context("finish", [&] {
    phase_ = Phase::finished;
    core_->set_last_sizes(capture_->sizes());
    try {
      return direct_ != nullptr ? finish_direct() : finish_recorded(options);
    } catch (const Error& cause) {
      report_error(cause);
      throw;
    }
  });
}

Ticket GraphSession::submit() {
  return in_context("submit", [&]() -> Ticket {
    if (direct_ == nullptr) {
      invalid("The session '" + options_.name +
              "' is recorded; finish() it and launch its graph with launch_async().");
    }
    phase_ = Phase::finished;
    core_->set_last_sizes(capture_->sizes());
    try {
      const auto submission = submit_direct(Follow::other_work);
      return Ticket({submission, &submission->slot()});
    } catch (const Error& cause) {
      report_error(cause);
      throw;
    }
  });
}

std::shared_ptr<DirectSubmission> GraphSession::submit_direct(Follow follow) {
  const ComputeGraph& graph = capture_->graph();
  FinishReport report;
  const std::int64_t begin = now_ns();
  report.record_ns = static_cast<std::uint64_t>(begin - begin_ns_);
  EncodingRef body = direct_->finish();
  std::vector<Exchange> inputs, outputs;
  for (const auto& [tensor, bytes] : input_bytes_) {
    inputs.push_back(direct_->exchange(graph, "", tensor));
  }
  for (const NamedOutput& output : outputs_) {
    outputs.push_back(direct_->exchange(graph, output.name, output.tensor));
  }
  report.ops = op_count();
  report.steps = direct_->steps();
  report.barriers = direct_->barriers();
  report.arena_bytes = direct_->arena_bytes();
  report.arena_growths = direct_->arena_growths();
  auto submission = std::make_shared<DirectSubmission>(core_, direct_->take_arena(), report);
  const Slot& slot = submission->open_slot(options_.state, std::move(inputs), std::move(outputs));
  auto source = input_bytes_.begin();
  for (const Exchange& input : slot.inputs()) {
    const std::vector<std::byte>& bytes = (source++)->second;
    std::copy(bytes.begin(), bytes.end(), slot.input_bytes(input));
  }
  submission->submit(std::move(body), session_record(), begin, follow);
  reported_ = true;
  return submission;
}

FinishResult GraphSession::finish_direct() {
  const auto submission = submit_direct(Follow::wait);
  Slot& slot = submission->slot();
  const Ticket ticket({submission, &slot});
  slot.wait();
  OutputSet set;
  for (const Exchange& output : slot.outputs()) {
    const auto [spec, bytes] = slot.output(output);
    set.add(output.name, {spec, {bytes.begin(), bytes.end()}});
  }
  return {submission->report(), std::move(set), CapturedGraph()};
}

FinishResult GraphSession::finish_recorded(const FinishOptions& options) {
  FinishReport report;
  report.record_ns = static_cast<std::uint64_t>(now_ns() - begin_ns_);
  report.ops = op_count();
  const std::int64_t begin = now_ns();
  auto recorded = std::make_shared<RecordedGraph>();
  recorded->graph = std::move(capture_->graph());
  capture_->graph().name = options_.name;  // what is left only names things in messages
  recorded->plan = make_plan(recorded->graph, core_->traits(), options.reuse);
  if (options_.state) {
    recorded->state_fields = options_.state.layout().fields();
  }
  report.plan_ns = static_cast<std::uint64_t>(now_ns() - begin);

  using Port = CapturedGraph::Recording::Port;
  std::vector<Port> inputs, outputs;
  const ComputeGraph& graph = recorded->graph;
  for (const auto& [tensor, bytes] : input_bytes_) {
    inputs.push_back({std::string(graph.names.text(graph.tensors[tensor].name)), tensor});
  }
  for (const NamedOutput& output : outputs_) {
    outputs.push_back({output.name, output.tensor});
  }
  auto recording = std::make_shared<CapturedGraph::Recording>(
      core_, recorded, options_.state, inputs, outputs, options.slots, report);
  auto source = input_bytes_.begin();
  for (const Port& input : inputs) {
    const DType dtype = graph.tensors[input.tensor].spec.dtype;
    recording->set_input(input.name, dtype, (source++)->second);
  }
  OutputSet set;
  if (options.run) {
    recording->launch();
    const SubmissionTimes& times = recording->last_times();
    report.submit_ns = times.submit_ns;
    report.wait_ns = times.wait_ns;
    report.device_ns = times.device_ns;
    for (const NamedOutput& output : outputs_) {
      const auto [spec, bytes] = recording->output(output.name);
      set.add(output.name, {spec, {bytes.begin(), bytes.end()}});
    }
  }
  report_session(report, "finished", options.run ? 1 : 0);
  recording->profile(profile_id_, report);
  return {report, std::move(set), CapturedGraph(std::move(recording))};
}

SessionRecord GraphSession::session_record() {
  SessionRecord record;
  if (core_->profile() != nullptr) {
    record.id = profile_id_ = core_->profile()->next_id();
  }
  record.recorded = mode_ == Mode::recorded;
  record.precision = core_->traits().precision;
  record.name = options_.name;
  record.begin_ns = begin_ns_;
  return record;
}

void GraphSession::report_error(const Error& error) {
  SessionProfile* profile = core_->profile();
  if (profile != nullptr && !reported_) {
    report_session({}, error.what());
    profile->error(error, profile_id_, 0);
  }
}

void GraphSession::report_session(const FinishReport& report, std::string outcome,
                                  std::uint32_t submits) {
  if (core_->profile() != nullptr && !reported_) {
    reported_ = true;
    SessionRecord record = session_record();
    record.submits = submits;
    core_->profile()->session(std::move(record), report, std::move(outcome));
  }
}

std::string GraphSession::tensor_name(const TensorRecord& tensor) const {
  return capture_->tensor_name(tensor);
}

std::uint32_t GraphSession::open_scope(std::uint32_t outer, std::string_view name,
                                       std::int32_t index) {
  return capture_->graph().names.scope(outer, name, index);
}

std::string GraphSession::scope_path(std::uint32_t scope) const {
  // A finished recorded session gave its names away with its graph.
  return phase_ == Phase::finished ? "" : capture_->graph().names.path(scope);
}

std::string_view GraphSession::session_name() const { return options_.name; }

std::uint32_t GraphSession::op_count() const { return ops_; }

}  // namespace reprise
