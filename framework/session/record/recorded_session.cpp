#include "framework/session/record/recorded_session.h"

#include <algorithm>

#include "framework/ops/fusions.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/record/expert_tensors.h"
#include "framework/session/record/plan_pass.h"
#include "framework/session/replay/framework_tensors.h"
#include "framework/session/replay/recording.h"
#include "reprise/ops/copy.h"

namespace reprise {

RecordedSession::RecordedSession(std::shared_ptr<ExecutorCore> core, SessionOptions options,
                                 Purpose purpose)
    : Session(std::move(core), std::move(options), true, std::move(purpose)) {}

void RecordedSession::require_options() const {
  if (options_.ops_per_submit != 0) {
    throw_invalid_argument("The session '", options_.name, "' is recorded, but asks for (",
                           options_.ops_per_submit,
                           ") ops_per_submit, which only direct sessions have.");
  }
  require_iterations(static_cast<bool>(options_.state));
}

bool RecordedSession::has_iteration() const { return looks_at_stop() || has_few_cells(); }

void RecordedSession::recorded(bool /*host_step*/) {
  builder_.collect_dead([](std::uint32_t) {});
}

Ticket RecordedSession::submit(Recorder& /*recorder*/) {
  throw_invalid_argument("The session '", options_.name,
                         "' is recorded; finish() it and launch its graph with launch_async().");
}

PassPlan RecordedSession::make_plan(const PlanOptions& options) {
  const std::int64_t begin = now_ns();
  ComputeGraph& graph = builder_.graph();
  for (const FrameworkTensor& known : FrameworkTensor::all(*core_, options_.state, rows_)) {
    builder_.set_origin(known.tensor, known.origin);
  }
  if (has_experts()) {
    for_each_expert_tensor(options_.experts, [&](const std::string& name, const TensorSpec&) {
      const auto own = std::ranges::find(options_.tensors, name, &NamedTensor::name);
      if (own != options_.tensors.end()) {
        builder_.set_origin(own->tensor, StorageOrigin::own, name);
      }
    });
  }
  graph.max_iterations = options_.max_iterations;
  keep_state_fields();
  PassPlan plan = plan_graph(builder_, core_->traits(), options);
  planned_ = true;
  plan.expert_calls = expert_calls_;
  for (const Router& router : routers_) {
    const Shape& shape = router.ids.shape();
    plan.routers.push_back({router.name, shape.dim(0), shape.dim(1), !shape.fixed()});
  }
  plan.rows = rows_;
  plan.session = profile_id_;
  plan.report.ops = ops_;
  plan.report.record_ns = static_cast<std::uint64_t>(begin - begin_ns_);
  plan.report.plan_ns = static_cast<std::uint64_t>(now_ns() - begin);
  return plan;
}

PassPlan RecordedSession::plan(Recorder& recorder, const PlanOptions& options,
                               const std::string& outcome) {
  return end(recorder, [&] {
    PassPlan plan = make_plan(options);
    report(plan.report, outcome);
    return plan;
  });
}

FinishResult RecordedSession::finish(Recorder& recorder, const FinishOptions& options) {
  return end(recorder, [&]() -> FinishResult {
    const PassPlan plan = make_plan({options.reuse, options.passes, fusion_rules()});
    const bool stops = std::ranges::any_of(
        plan.expert_calls, [](const ExpertCall& call) { return !call.stops.empty(); });
    if (options.pool && (stops || !plan.graph().host_steps.empty())) {
      throw_invalid_argument(
          "The graph '", plan.graph().name,
          stops ? "' stops where an expert is missing" : "' has host steps",
          ", and meanwhile other graphs of a pool could use its arena; finish it without a pool.");
    }
    FinishReport report = plan.report;
    auto recording = Recording::make(
        core_, plan, {.state = options_.state, .own = options_.tensors, .pool = options.pool},
        {.slots = options.slots, .joined_host_steps = options.joined_host_steps}, report);
    const std::vector<Port>& inputs = plan.graph().inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      recording->inputs().set(inputs[i].name, inputs[i].spec.dtype, input_values_[i]);
    }
    OutputSet outputs;
    Ticket first;
    if (options.run) {
      first = recording->launch({}, true, AfterSubmit::will_wait, first).value();
      outputs = OutputSet::of(first);
      const SubmissionTimes& times = first.times();
      report.submit_ns = times.submit_ns;
      report.wait_ns = times.wait_ns;
      report.host_step_ns = times.host_step_ns;
      report.submits = times.submits;
      report.device_ns = times.device_ns;
    }
    this->report(report, "finished");
    recording->reporter().enter(profile_id_, report, recording->memory(), purpose_.key_json);
    return {report, std::move(outputs), CapturedGraph(std::move(recording), std::move(first))};
  });
}

std::uint32_t RecordedSession::output_index(std::string_view name) const {
  return index_of(builder_.graph().outputs, "The session '" + options_.name + "'", "output", name);
}

Tensor RecordedSession::copy_of_output(Recorder& recorder, std::size_t output) {
  const TensorSpec& spec = outputs_[output].spec();
  if (spec.dtype == DType::i64) {
    throw_error(ErrorCode::unsupported, "The output '", builder_.graph().outputs[output].name,
                "' (", to_string(spec), ") would be copied, but copy() takes no i64.");
  }
  return copy(recorder, outputs_[output]);
}

void RecordedSession::copy_outputs_of(Recorder& recorder, const Tensor& memory) {
  const auto storage_of = [&](std::uint32_t tensor) {
    return builder_.graph().tensors[tensor].storage;
  };
  const std::uint32_t storage = storage_of(builder_.index_of(memory));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (storage_of(builder_.graph().outputs[i].tensor) == storage) {
      outputs_[i] = copy_of_output(recorder, i);
      const std::uint32_t copied = TensorRef(outputs_[i])->index;
      builder_.graph().outputs[i].tensor = copied;
      builder_.graph().storages[storage_of(copied)].output = true;
    }
  }
}

void RecordedSession::place_output(Recorder& recorder, std::string_view name, const Tensor& target,
                                   bool by_copy) {
  const std::uint32_t output = output_index(name);
  Tensor placed = outputs_[output];
  require_same_spec("The output '" + std::string(name) + "'", placed.spec(), target.spec());
  const TensorRef memory(target);
  memory->buffer->require_writable();
  const std::uint64_t alignment = core_->traits().binding_alignment;
  if (memory->offset % alignment != 0) {
    throw_error(ErrorCode::unsupported, "The output '", name, "' cannot go into the tensor (",
                memory->name, "): it begins (", memory->offset,
                ") bytes into its buffer, but results begin at multiples of (", alignment,
                ") on this device.");
  }
  if (by_copy || !builder_.can_place(placed, target)) {
    placed = copy_of_output(recorder, output);
  }
  builder_.place(placed, target);
}

}  // namespace reprise
