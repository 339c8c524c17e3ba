#include "framework/session/record/session.h"

#include <algorithm>
#include <cstring>

#include "framework/core/custom_op.h"
#include "framework/core/known_names.h"
#include "framework/ops/host_step_def.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/record/repeated_calls.h"
#include "framework/session/state/extents.h"
#include "framework/session/state/state_memory.h"
#include "reprise/ops/plan.h"

namespace reprise {

void require_same_spec(const std::string& what, const TensorSpec& spec, const TensorSpec& tensor) {
  if (spec.shape == tensor.shape && spec.dtype == tensor.dtype &&
      spec.contiguous() == tensor.contiguous()) {
    return;
  }
  throw_error(spec.shape == tensor.shape ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
              what, " is ", to_string(spec), ", but its tensor is (", to_string(tensor), ").");
}

namespace {

/// With a name, and with values of its own: the caller's may go with the statement that began it.
SessionOptions completed(SessionOptions options, bool recorded) {
  if (options.name.empty()) {
    options.name = recorded ? "recorded" : "direct";
  }
  for (NamedInput& input : options.inputs) {
    if (input.kept == nullptr) {
      input.kept =
          std::make_shared<const std::vector<std::byte>>(input.bytes.begin(), input.bytes.end());
      input.bytes = *input.kept;
    }
  }
  return options;
}

/// Throws invalid_argument for an attribute that is a field of a state with more fields.
void require_words(const OpCall& call, std::uint32_t words) {
  for (const Attribute& a : call.op.attributes) {
    std::uint32_t word = StateField::kNone;
    if (is_param(a.type)) {
      std::memcpy(&word, call.attributes.data() + a.offset + offsetof(Param<float>, word),
                  sizeof word);
    }
    if (word != StateField::kNone && word >= words) {
      throw_invalid_argument("The attribute '", a.name, "' of ", call.op.name, " is word (", word,
                             ") of a state, but ",
                             words == 0 ? "the session has none"
                                        : joined_text("that of the session has ", words, " words"),
                             "; take fields of the session's own state().");
    }
  }
}

}  // namespace

Session::Session(std::shared_ptr<ExecutorCore> core, SessionOptions options, bool recorded,
                 Purpose purpose)
    : core_(std::move(core)),
      options_(completed(std::move(options), recorded)),
      recorded_(recorded),
      purpose_(std::move(purpose)),
      builder_(options_.name, core_->next_owner()),
      begin_ns_(now_ns()) {
  core_->require_running();
  builder_.reserve(core_->last_sizes());
  if (core_->profile() != nullptr) {
    profile_id_ = core_->profile()->next_id();
  }
}

Session::~Session() = default;

void Session::begin(Recorder& recorder) {
  const std::uint32_t wanted = options_.max_iterations;
  if (wanted < 1 || wanted > kMaxIterations) {
    throw_invalid_argument("The session '", options_.name, "' asks for (", wanted,
                           ") iterations per launch; 1 to ", kMaxIterations, " are possible.");
  }
  require_options();
  builder_.graph().extents = resolve_extents(options_.extents, options_.state);
  begin_extents();
  if (options_.state) {
    record_plan_op(recorder);
  }
}

bool Session::has_few_cells() const {
  const ExpertSetup& experts = options_.experts;
  return has_experts() && experts.options.misses == ExpertMiss::upload &&
         experts.cells() < experts.store.experts();
}

void Session::require_iterations(bool possible) const {
  if (options_.max_iterations > 1 && !possible) {
    throw_invalid_argument(
        "The session '", options_.name, "' asks for (", options_.max_iterations,
        ") iterations per launch, but only recorded sessions with a state block have more "
        "than 1.");
  }
}

void Session::record_plan_op(Recorder& recorder) {
  const StateLayout& layout = options_.state.layout();
  rows_.capacity = options_.max_iterations;
  if (has_iteration()) {
    rows_.iteration = make_iteration();
  } else if (layout.carried_count() + layout.derived_count() == 0) {
    return;
  }
  const auto& memory = options_.state.inner();
  plan(recorder, memory.block, memory.patch, memory.table, rows_.iteration,
       {.carried_first = static_cast<std::int32_t>(layout.host_count()),
        .carried_count = static_cast<std::int32_t>(layout.carried_count()),
        .row_count = memory.row_count,
        .stop_word = static_cast<std::int32_t>(
            looks_at_stop() ? layout.stop_word().value_or(StateField::kNone) : StateField::kNone)});
  if (rows_.iteration) {
    ComputeGraph& graph = builder_.graph();
    graph.iteration_tensor = builder_.index_of(TensorRef(rows_.iteration));
    graph.tensors[graph.iteration_tensor].role = TensorRole::state;
  }
}

Tensor Session::input(std::string_view name, const TensorSpec& spec,
                      std::span<const std::byte> values) {
  if (purpose_.inputs != InputValues::given) {
    throw_invalid_argument(
        "The input '", name,
        "' gets its values inside of a pass that is kept: a replay would not see new ones. "
        "Declare it with input(name, shape, dtype) and give its values with the call.");
  }
  return add_input(name, spec, spec.dtype, values);
}

Tensor Session::input(std::string_view name, const TensorSpec& spec) {
  const auto tensor = std::ranges::find(options_.tensors, name, &NamedTensor::name);
  if (tensor != options_.tensors.end()) {
    require_same_spec("The input '" + std::string(name) + "'", spec, tensor->tensor.spec());
    return tensor->tensor;
  }
  if (purpose_.inputs == InputValues::by_launches) {
    return add_input(name, spec, spec.dtype, {});
  }
  const auto given = std::ranges::find(options_.inputs, name, &NamedInput::name);
  if (given == options_.inputs.end()) {
    throw_error(ErrorCode::missing_input, "The input '", name,
                "' has no values; give them with SessionOptions::inputs.");
  }
  return add_input(name, spec, given->dtype, given->bytes);
}

Tensor Session::add_input(std::string_view name, const TensorSpec& spec, DType dtype,
                          std::span<const std::byte> values) {
  require_rank(spec.shape);
  if (purpose_.inputs != InputValues::by_launches) {
    require_values(name, spec, dtype, values);
  }
  const ComputeGraph& graph = builder_.graph();
  if (std::ranges::find(graph.inputs, name, &Port::name) != graph.inputs.end()) {
    throw_invalid_argument("The session has an input '", name, "' already.");
  }
  Tensor tensor = builder_.add_input(name, spec);
  input_values_.emplace_back(values.begin(), values.end());
  added_input(TensorRef(tensor)->index, values);
  return tensor;
}

Tensor Session::param(std::string_view name, const Shape& shape, DType dtype) {
  if (!options_.params) {
    throw_invalid_argument("The session asks for the param '", name,
                           "', but has no params; begin it with SessionOptions::params.");
  }
  param_names_.emplace_back(name);
  return options_.params.declare(name, shape, dtype);
}

void Session::output(std::string_view name, const Tensor& tensor) {
  const TensorRef ref(tensor);
  if (!ref) {
    throw_invalid_argument("The output '", name, "' is an empty tensor.");
  }
  if (ref->slab->owner() != 0 && ref->slab->owner() != builder_.owner()) {
    throw_invalid_argument("The output '", name, "' is a transient of another session.");
  }
  if (!ref.spec().contiguous()) {
    throw_invalid_argument("The output '", name, "' ", to_string(ref.spec()),
                           " is a strided view; call copy first.");
  }
  ComputeGraph& graph = builder_.graph();
  if (std::ranges::find(graph.outputs, name, &Port::name) != graph.outputs.end()) {
    throw_invalid_argument("The session has an output '", name, "' already.");
  }
  if (ref->buffer != nullptr) {
    ref->buffer->require_alive();
  }
  const std::uint32_t index = builder_.index_of(ref);
  GraphTensor& entry = graph.tensors[index];
  graph.storages[entry.storage].output = true;
  if (entry.role == TensorRole::activation) {
    entry.role = TensorRole::output;
    entry.name = graph.names.intern(name);
  }
  graph.outputs.push_back({std::string(name), entry.spec, index});
  outputs_.push_back(tensor);
}

Tensor Session::find_block() const {
  if (!options_.state) {
    throw_invalid_argument("The session has no state block; begin it with {.state = ...}.");
  }
  return options_.state.inner().block;
}

Tensor Session::find_array(std::string_view array) {
  Tensor tensor = options_.state.require("array", array).array_of(array).tensor;
  builder_.graph().tensors[builder_.index_of(tensor)].role = TensorRole::state;
  return tensor;
}

StateField Session::find_state(std::string_view field) const {
  const StateFieldInfo* info = options_.state ? options_.state.layout().find(field) : nullptr;
  if (info == nullptr) {
    throw_unknown_name("The state of the session '" + options_.name + "'", "field", field,
                       options_.state ? options_.state.layout().names() : "none");
  }
  return {info->word, info->dtype, info->name};
}

Extent Session::find_extent(std::string_view field) const {
  const auto bucket = std::ranges::find(options_.extents, field, &ExtentBucket::field);
  if (bucket == options_.extents.end()) {
    throw_unknown_name("The session '" + options_.name + "'", "extent", field,
                       names_of(options_.extents, &ExtentBucket::field));
  }
  return {bucket->max, find_state(field).word};
}

void Session::append(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
                     bool arguments_unordered, std::span<Tensor> results) {
  if (call.op.view) {
    results[0] = builder_.add_view(call, outputs);
  } else {
    append_node(call, outputs, scope, arguments_unordered, results);
  }
  if (heard_ != nullptr) {
    heard_->add(call, results);
  }
}

void Session::append_node(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
                          bool arguments_unordered, std::span<Tensor> results) {
  require_device(call.op, core_->device().backend());
  ComputeGraph& graph = builder_.graph();
  std::uint32_t state = kNoIndex;
  if (call.op.reads_state()) {
    require_words(call, options_.state ? options_.state.layout().words() : 0);
    const Tensor& block = options_.state ? options_.state.inner().block : core_->empty_state();
    state = graph.state_tensor = builder_.index_of(block);
    graph.tensors[state].role = TensorRole::state;
  }
  builder_.add_node(call, outputs, scope, state, results);
  graph.nodes.back().arguments_unordered = arguments_unordered;
  ++ops_;
  if (purpose_.notes_routers && call.op.chooses_experts) {
    routers_.push_back({free_router_name(graph.names.path(scope)), results[0]});
  }
  const bool host_step = &call.op == &ops::host_step_def;
  if (host_step) {
    keep_host_step(*call.as<ops::HostStepAttributes>().step);
  }
  recorded(host_step);
}

std::string Session::free_router_name(const std::string& wanted) const {
  std::string name = wanted;
  for (int number = 2; std::ranges::count(routers_, name, &Router::name) > 0; ++number) {
    name = wanted + "#" + std::to_string(number);
  }
  return name;
}

void Session::name_router(const std::string& name, const Tensor& ids) {
  if (!purpose_.notes_routers) {
    return;
  }
  const auto named = std::ranges::find(routers_, name, &Router::name);
  const auto router = std::ranges::find_if(
      routers_, [&](const Router& r) { return TensorRef(r.ids)->index == TensorRef(ids)->index; });
  if (router != routers_.end() && named != routers_.end()) {
    std::swap(named->name, router->name);
  } else if (router != routers_.end()) {
    router->name = name;
  } else {
    if (named != routers_.end()) {
      named->name = free_router_name(name);
    }
    routers_.push_back({name, ids});
  }
}

void Session::keep_host_step(HostStep& step) {
  if (options_.max_iterations > 1) {
    throw_invalid_argument(
        "The host step '", step.name, "' is recorded in a session of (", options_.max_iterations,
        ") iterations per launch: the device alone knows which of them run. Begin the session "
        "with max_iterations = 1.");
  }
  if (!options_.extents.empty()) {
    throw_invalid_argument(
        "The host step '", step.name, "' is recorded in a session with the extent (",
        options_.extents.front().field,
        "): with 0 rows the device runs nothing, but the host would call its function.");
  }
  ComputeGraph& graph = builder_.graph();
  const auto index = static_cast<std::uint32_t>(graph.nodes.size() - 1);
  graph.host_steps.emplace(index, std::move(step.name));
  builder_.functions().emplace(index, std::move(step.function));
  std::ranges::fill(std::span(graph.attributes).subspan(graph.nodes[index].attributes),
                    std::byte{0});  // the pointer is of no more use
}

void Session::require_all_inputs_used() const {
  const ComputeGraph& graph = builder_.graph();
  for (const NamedInput& given : options_.inputs) {
    if (std::ranges::find(graph.inputs, given.name, &Port::name) == graph.inputs.end()) {
      throw_error(ErrorCode::unknown_name, "The session '", options_.name,
                  "' is given values of an input '", given.name, "' that it does not declare.");
    }
    if (std::ranges::count(options_.inputs, given.name, &NamedInput::name) != 1) {
      throw_invalid_argument("The session '", options_.name, "' is given values of its input '",
                             given.name, "' more than once; give it one value.");
    }
  }
}

void Session::begin_end(Recorder& recorder) {
  require_all_inputs_used();
  if (options_.experts.store && !has_experts()) {
    throw_invalid_argument(
        "The session '", options_.name,
        "' is given experts, but passes that are kept under a key have none; use "
        "an ExecutableGraph.");
  }
  if (rows_.iteration) {
    record_rows(recorder, options_.state.layout().words(), outputs_, rows_);
  }
  finished_ = true;
  core_->set_last_sizes(builder_.sizes());
}

void Session::keep_state_fields() {
  if (options_.state) {
    std::vector<StateFieldInfo>& fields = builder_.graph().state_fields;
    fields = options_.state.layout().fields();
    std::ranges::copy(options_.state.layout().arrays(), std::back_inserter(fields));
  }
}

void Session::discard(const std::string& why) {
  if (!finished_) {
    report({}, why.empty() ? "discarded" : why);
  }
}

void Session::report_error(const Error& error) {
  SessionProfile* profile = core_->profile();
  if (profile != nullptr && !reported_) {
    report({}, error.what());
    profile->error(error, profile_id_, 0);
  }
}

SessionRecord Session::record() const {
  return {.id = profile_id_,
          .recorded = recorded_,
          .precision = core_->traits().precision,
          .name = options_.name,
          .begin_ns = begin_ns_};
}

void Session::report(const FinishReport& report, std::string outcome) {
  if (core_->profile() != nullptr && !reported_) {
    reported_ = true;
    SessionRecord record = this->record();
    record.submits = report.submits;
    core_->profile()->session(std::move(record), report, std::move(outcome));
  }
}

}  // namespace reprise
