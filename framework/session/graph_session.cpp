#include "reprise/session/graph_session.h"

#include <algorithm>
#include <array>

#include "framework/session/direct_run.h"
#include "framework/session/direct_submission.h"
#include "framework/session/extents.h"
#include "framework/session/host_clock.h"
#include "framework/session/iteration_rows.h"
#include "reprise/core/custom_op.h"
#include "reprise/core/known_names.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/host_step.h"
#include "reprise/ops/plan.h"

namespace reprise {
namespace {

std::string name_or(std::string name, GraphSession::Mode mode) {
  if (!name.empty()) {
    return name;
  }
  return mode == GraphSession::Mode::direct ? "direct" : "recorded";
}

void require_same_spec(const std::string& what, const TensorSpec& spec, const TensorSpec& tensor) {
  if (spec.shape == tensor.shape && spec.dtype == tensor.dtype &&
      spec.contiguous() == tensor.contiguous()) {
    return;
  }
  throw Error(spec.shape == tensor.shape ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
              what + " is " + to_string(spec) + ", but its tensor is (" + to_string(tensor) + ").");
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<ExecutorCore> core, Mode mode, SessionOptions options)
    : core_(std::move(core)),
      options_(std::move(options)),
      mode_(mode),
      rows_(std::make_unique<IterationRows>()),
      begin_ns_(now_ns()) {
  core_->require_running();
  options_.name = name_or(std::move(options_.name), mode);
  owner_ = core_->next_owner();
  capture_ = std::make_unique<GraphCapture>(options_.name, owner_);
  const GraphSizes expected = core_->last_sizes();
  capture_->reserve(expected);
  if (core_->profile() != nullptr) {
    profile_id_ = core_->profile()->next_id();
  }
  if (mode_ == Mode::direct) {
    direct_ = std::make_unique<DirectRun>(core_, options_.name, expected, profile_id_);
  }
  keep_inputs();
  require_options();
  begin_extents();
  if (options_.state) {
    record_plan_op();
  }
}

/// The caller's bytes may go with the statement that began the session.
void GraphSession::keep_inputs() {
  for (NamedInput& input : options_.inputs) {
    if (input.kept == nullptr) {
      input.kept =
          std::make_shared<const std::vector<std::byte>>(input.bytes.begin(), input.bytes.end());
      input.bytes = *input.kept;
    }
  }
}

void GraphSession::require_options() const {
  if (mode_ == Mode::recorded && options_.ops_per_submit != 0) {
    throw_invalid_argument("The session '" + options_.name + "' is recorded, but asks for (" +
                           std::to_string(options_.ops_per_submit) +
                           ") ops_per_submit, which only direct sessions have.");
  }
  const std::uint32_t wanted = options_.max_iterations;
  if (wanted < 1 || wanted > kMaxIterations) {
    throw_invalid_argument("The session '" + options_.name + "' asks for (" +
                           std::to_string(wanted) + ") iterations per launch; 1 to " +
                           std::to_string(kMaxIterations) + " are possible.");
  }
  if (wanted > 1 && (mode_ == Mode::direct || !options_.state)) {
    throw_invalid_argument(
        "The session '" + options_.name + "' asks for (" + std::to_string(wanted) +
        ") iterations per launch, but only recorded sessions with a state block have more "
        "than 1.");
  }
}

void GraphSession::begin_extents() {
  std::vector<GraphExtent>& extents = capture_->graph().extents;
  extents = resolve_extents(options_.extents, options_.state);
  if (direct_ != nullptr && !extents.empty()) {
    const auto& memory = options_.state.memory_;
    const std::lock_guard lock(memory->mutex);
    require_limits(limits_of(extents), memory->layout, memory->host);
    direct_->set_extents(extents, memory->host);
  }
}

std::vector<ExtentLimit> GraphSession::direct_limits() const {
  const ComputeGraph& graph = capture_->graph();
  std::vector<ExtentLimit> limits;
  for (const GraphExtent& extent : graph.extents) {
    const std::int64_t rows = direct_->rows_of(extent.word);
    limits.push_back({extent.word, rows, rows, ExtentLimit::Cause::recorded});
  }
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Port& input = graph.inputs[i];
    if (!input.spec.shape.fixed()) {
      limits.push_back(limit_of(input.name, input.spec, input_values_[i]));
    }
  }
  return limits;
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
  rows_->capacity = options_.max_iterations;
  if (options_.max_iterations > 1 || (mode_ == Mode::recorded && !options_.extents.empty())) {
    rows_->iteration = make_iteration();
  } else if (layout.carried_count() + layout.derived_count() == 0) {
    return;
  }
  const auto& memory = *options_.state.memory_;
  plan(*this, memory.block, memory.patch, memory.table, rows_->iteration,
       {.carried_first = static_cast<std::int32_t>(layout.host_count()),
        .carried_count = static_cast<std::int32_t>(layout.carried_count()),
        .row_count = memory.row_count,
        .stop_word = static_cast<std::int32_t>(layout.stop_word().value_or(StateField::kNone))});
  if (rows_->iteration) {
    ComputeGraph& graph = capture_->graph();
    graph.iteration_tensor = capture_->index_of(TensorRef(rows_->iteration));
    graph.tensors[graph.iteration_tensor].role = TensorRole::state;
  }
}

void GraphSession::require_open() const {
  core_->require_running();
  if (phase_ == Phase::finished) {
    throw_invalid_argument("The session '" + options_.name + "' is finished; begin another one.");
  }
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, std::span<const float> values,
                           SourceLocation where) {
  return input(name, shape, DType::f32, std::as_bytes(values), where);
}

Tensor GraphSession::input(std::string_view name, const Shape& shape,
                           std::span<const std::int32_t> values, SourceLocation where) {
  return input(name, shape, DType::i32, std::as_bytes(values), where);
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, DType dtype,
                           std::span<const std::byte> bytes, SourceLocation where) {
  return in_context("input", where, [&] {
    if (keyed_ || declares_inputs_) {
      throw_invalid_argument(
          "The input '" + std::string(name) +
          "' gets its values inside of a pass that is kept: a replay would not see new ones. "
          "Declare it with input(name, shape, dtype) and give its values with the call.");
    }
    return add_input(name, TensorSpec(shape, dtype), dtype, bytes);
  });
}

Tensor GraphSession::input(std::string_view name, const Shape& shape, DType dtype,
                           SourceLocation where) {
  return in_context("input", where, [&] {
    const TensorSpec spec(shape, dtype);
    const auto tensor = std::ranges::find(options_.tensors, name, &NamedTensor::name);
    if (tensor != options_.tensors.end()) {
      require_same_spec("The input '" + std::string(name) + "'", spec, tensor->tensor.spec());
      return tensor->tensor;
    }
    if (declares_inputs_) {
      return add_input(name, spec, dtype, {});
    }
    const auto given = std::ranges::find(options_.inputs, name, &NamedInput::name);
    if (given == options_.inputs.end()) {
      throw Error(ErrorCode::missing_input,
                  "The input '" + std::string(name) +
                      "' has no values; give them with SessionOptions::inputs.");
    }
    return add_input(name, spec, given->dtype, given->bytes);
  });
}

Tensor GraphSession::param(std::string_view name, const Shape& shape, DType dtype,
                           SourceLocation where) {
  return in_context("param", where, [&] {
    if (!options_.params) {
      throw_invalid_argument("The session asks for the param '" + std::string(name) +
                             "', but has no params; begin it with SessionOptions::params.");
    }
    param_names_.emplace_back(name);
    return options_.params.declare(name, shape, dtype);
  });
}

Tensor GraphSession::add_input(std::string_view name, const TensorSpec& spec, DType dtype,
                               std::span<const std::byte> bytes) {
  require_rank(spec.shape);
  if (!declares_inputs_) {
    require_values(name, spec, dtype, bytes);
  }
  const ComputeGraph& graph = capture_->graph();
  if (std::ranges::find(graph.inputs, name, &Port::name) != graph.inputs.end()) {
    throw_invalid_argument("The session has an input '" + std::string(name) + "' already.");
  }
  Tensor tensor = capture_->add_input(name, spec);
  const std::uint32_t index = TensorRef(tensor)->index;
  input_values_.emplace_back(bytes.begin(), bytes.end());
  if (direct_ != nullptr) {
    direct_->place(*capture_, graph.tensors[index].storage);
  }
  if (submission_ != nullptr) {  // the slot went with the first part
    const Exchange place = direct_->exchange(*capture_, "", index);
    core_->device().write(place.buffer, place.buffer_offset, bytes);
  }
  return tensor;
}

void GraphSession::output(std::string_view name, const Tensor& tensor, SourceLocation where) {
  in_context("output", where, [&] {
    const TensorRef ref(tensor);
    if (!ref) {
      throw_invalid_argument("The output '" + std::string(name) + "' is an empty tensor.");
    }
    if (ref->slab->owner() != 0 && ref->slab->owner() != owner_) {
      throw_invalid_argument("The output '" + std::string(name) +
                             "' is a transient of another session.");
    }
    if (!ref.spec().contiguous()) {
      throw_invalid_argument("The output '" + std::string(name) + "' " + to_string(ref.spec()) +
                             " is a strided view; call copy first.");
    }
    ComputeGraph& graph = capture_->graph();
    if (std::ranges::find(graph.outputs, name, &Port::name) != graph.outputs.end()) {
      throw_invalid_argument("The session has an output '" + std::string(name) + "' already.");
    }
    if (ref->buffer != nullptr) {
      ref->buffer->require_alive();
    }
    const std::uint32_t index = capture_->index_of(ref);
    GraphTensor& entry = graph.tensors[index];
    graph.storages[entry.storage].output = true;
    if (entry.role == TensorRole::activation) {
      entry.role = TensorRole::output;
      entry.name = graph.names.intern(name);
    }
    graph.outputs.push_back({std::string(name), entry.spec, index});
    outputs_.push_back(tensor);
  });
}

void GraphSession::copy_outputs_of(const Tensor& memory) {
  in_context("output", {}, [&] {
    const auto storage_of = [&](std::uint32_t tensor) {
      return capture_->graph().tensors[tensor].storage;
    };
    const std::uint32_t storage = storage_of(capture_->index_of(memory));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (storage_of(capture_->graph().outputs[i].tensor) == storage) {
        outputs_[i] = copy(*this, outputs_[i]);
        const std::uint32_t copied = TensorRef(outputs_[i])->index;
        capture_->graph().outputs[i].tensor = copied;
        capture_->graph().storages[storage_of(copied)].output = true;
      }
    }
  });
}

std::uint32_t GraphSession::output_index(std::string_view name) const {
  return index_of(capture_->graph().outputs, "The session '" + options_.name + "'", "output", name);
}

void GraphSession::place_output(std::string_view name, const Tensor& target, bool by_copy) {
  in_context("output", {}, [&] {
    Tensor placed = outputs_[output_index(name)];
    require_same_spec("The output '" + std::string(name) + "'", placed.spec(), target.spec());
    if (by_copy || !capture_->can_place(placed, target)) {
      placed = copy(*this, placed);
    }
    capture_->place(placed, target);
  });
}

void GraphSession::note_failure(const Error& error) const noexcept {
  core_->device().backend().life().note(error);
}

std::string_view name_of(SessionPhase phase) {
  constexpr std::array<std::string_view, 3> kNames{"recording", "finished", "invalidated"};
  return kNames[static_cast<std::size_t>(phase)];
}

SessionStatus GraphSession::status() const {
  if (invalidated()) {
    return {SessionPhase::invalidated, failure().op, failure().label, reason(), failure().where};
  }
  return {phase_ == Phase::finished ? SessionPhase::finished : SessionPhase::recording, op_count()};
}

Tensor GraphSession::find_block() {
  if (!options_.state) {
    throw_invalid_argument("The session has no state block; begin it with {.state = ...}.");
  }
  return options_.state.memory_->block;
}

Tensor GraphSession::find_array(std::string_view array) {
  Tensor tensor = options_.state.array_of(array).tensor;
  capture_->graph().tensors[capture_->index_of(tensor)].role = TensorRole::state;
  return tensor;
}

StateField GraphSession::find_state(std::string_view field) const {
  const StateFieldInfo* info = options_.state ? options_.state.layout().find(field) : nullptr;
  if (info == nullptr) {
    throw_unknown_name("The state of the session '" + options_.name + "'", "field", field,
                       options_.state ? options_.state.layout().names() : "none");
  }
  return {info->word, info->dtype, info->name};
}

Extent GraphSession::find_extent(std::string_view field) const {
  const auto bucket = std::ranges::find(options_.extents, field, &ExtentBucket::field);
  if (bucket == options_.extents.end()) {
    throw_unknown_name("The session '" + options_.name + "'", "extent", field,
                       names_of(options_.extents, &ExtentBucket::field));
  }
  return {bucket->max, find_state(field).word};
}

void GraphSession::append(const OpCall& call, const Outputs& outputs, std::span<Tensor> results) {
  if (call.op.view) {
    results[0] = capture_->add_view(call, outputs);
    return;
  }
  require_device(call.op, core_->device().backend());
  std::uint32_t state = kNoIndex;
  if (call.op.reads_state()) {
    const Tensor& block = options_.state ? options_.state.memory_->block : core_->empty_state();
    state = capture_->index_of(block);
    capture_->graph().state_tensor = state;
    capture_->graph().tensors[state].role = TensorRole::state;
  }
  capture_->add_node(call, outputs, current_scope_, state, results);
  capture_->graph().nodes.back().arguments_unordered = arguments_unordered_;
  ++ops_;
  const bool host_step = &call.op == &ops::host_step_def;
  if (host_step) {
    keep_host_step(call);
  }
  if (direct_ != nullptr) {
    direct_->encode_node(*capture_);
    if (host_step) {
      run_host_step();
    } else if (options_.ops_per_submit != 0 && ops_ % options_.ops_per_submit == 0) {
      submit_part(AfterSubmit::will_continue);
    }
  } else {
    capture_->collect_dead([](std::uint32_t) {});
  }
}

void GraphSession::keep_host_step(const OpCall& call) {
  HostStep& step = *call.as<ops::HostStepAttributes>().step;
  if (options_.max_iterations > 1) {
    throw_invalid_argument(
        "The host step '" + step.name + "' is recorded in a session of (" +
        std::to_string(options_.max_iterations) +
        ") iterations per launch: the device alone knows which of them run. Begin the session "
        "with max_iterations = 1.");
  }
  if (!options_.extents.empty()) {
    throw_invalid_argument(
        "The host step '" + step.name + "' is recorded in a session with the extent (" +
        options_.extents.front().field +
        "): with 0 rows the device runs nothing, but the host would call its function.");
  }
  ComputeGraph& graph = capture_->graph();
  const auto index = static_cast<std::uint32_t>(graph.nodes.size() - 1);
  graph.host_steps.emplace(index, std::move(step.name));
  capture_->functions().emplace(index, std::move(step.function));
  std::ranges::fill(std::span(graph.attributes).subspan(graph.nodes[index].attributes),
                    std::byte{0});  // the pointer is of no more use
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
