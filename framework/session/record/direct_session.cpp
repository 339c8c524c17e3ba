#include "framework/session/record/direct_session.h"

#include <array>

#include "framework/session/executor/host_clock.h"
#include "framework/session/state/extents.h"

namespace reprise {

DirectSession::DirectSession(std::shared_ptr<ExecutorCore> core, SessionOptions options,
                             Purpose purpose)
    : Session(std::move(core), std::move(options), false, std::move(purpose)),
      run_(core_, options_.name, core_->last_sizes(), profile_id_) {}

void DirectSession::require_options() const { require_iterations(false); }

void DirectSession::begin_extents() {
  const std::vector<GraphExtent>& extents = builder_.graph().extents;
  if (!extents.empty()) {
    auto& memory = options_.state.inner();
    const std::lock_guard lock(memory.mutex);
    require_limits(limits_of(extents), memory.layout, memory.host);
    run_.set_extents(extents, memory.host);
  }
}

std::vector<ExtentLimit> DirectSession::limits() const {
  const ComputeGraph& graph = builder_.graph();
  std::vector<ExtentLimit> limits;
  for (const GraphExtent& extent : graph.extents) {
    const std::int64_t rows = run_.host_words()[extent.word];
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

void DirectSession::added_input(std::uint32_t tensor, std::span<const std::byte> values) {
  run_.place(builder_, builder_.graph().tensors[tensor].storage);
  if (submission_ != nullptr) {  // the slot went with the first part, and the limits
    const Port& port = builder_.graph().inputs.back();
    if (!port.spec.shape.fixed()) {
      require_limits(std::array{limit_of(port.name, port.spec, values)}, options_.state.layout(),
                     run_.host_words());
    }
    const Exchange place = run_.exchange(builder_, "", tensor);
    core_->device().write(place.buffer, place.buffer_offset, values);
  }
}

void DirectSession::recorded(bool host_step) {
  run_.encode_node(builder_);
  if (host_step) {
    run_host_step();
  } else if (options_.ops_per_submit != 0 && ops_ % options_.ops_per_submit == 0) {
    submit_part(AfterSubmit::will_continue);
  }
}

void DirectSession::run_host_step() {
  submit_part(AfterSubmit::will_wait);
  const std::int64_t begin = now_ns();
  core_->device().backend().wait(run_.arena().in_use_until);
  const std::int64_t called = now_ns();
  report_.wait_ns += static_cast<std::uint64_t>(called - begin);
  run_.run_host_step();
  report_.host_step_ns += static_cast<std::uint64_t>(now_ns() - called);
}

void DirectSession::open_submission() {
  const std::vector<Port>& ports = builder_.graph().inputs;
  std::vector<Exchange> inputs;
  inputs.reserve(ports.size());
  for (const Port& input : ports) {
    inputs.push_back(run_.exchange(builder_, "", input.tensor));
  }
  submission_ =
      std::make_shared<DirectSubmission>(core_, options_.name, options_.state, std::move(inputs),
                                         run_.arena().staging, run_.step_times());
  submission_->set_extents(limits(), run_.is_empty());
  const Slot& slot = submission_->slot();
  for (std::size_t i = 0; i < input_values_.size(); ++i) {
    std::ranges::copy(input_values_[i], slot.exchange().input_bytes(i));
  }
}

std::vector<StateGrowth> DirectSession::new_growths() {
  const auto end = static_cast<std::uint32_t>(builder_.graph().nodes.size());
  return growths_of(builder_.graph(), std::exchange(submitted_nodes_, end), end);
}

void DirectSession::submit_part(AfterSubmit then) {
  if (hook_) {
    hook_(builder_);
  }
  const auto running = core_->hold_running();
  const DriverWork work = run_.driver_work(builder_.graph());
  EncodingRef part = run_.cut();
  if (submission_ == nullptr) {
    open_submission();
  }
  run_.arena().in_use_until =
      submission_->submit_part({std::move(part), new_growths(), now_ns(), then});
  ++report_.submits;
}

std::shared_ptr<DirectSubmission> DirectSession::submit_all(AfterSubmit then) {
  submit_last(then);
  if (core_->profile() != nullptr) {  // the graph is of no use here any more
    keep_state_fields();
    const auto [plan, pools] = run_.take_plan(builder_, submission_->arena());
    submission_->enter(plan, pools);
  }
  return submission_;
}

void DirectSession::submit_last(AfterSubmit then) {
  const DriverWork work = run_.driver_work(builder_.graph());
  if (hook_) {
    hook_(builder_);
  }
  const std::int64_t begin = now_ns();
  report_.record_ns = static_cast<std::uint64_t>(begin - begin_ns_);
  EncodingRef body = run_.finish();
  if (submission_ == nullptr) {
    open_submission();
  }
  std::vector<Exchange> outputs;
  for (const Port& output : builder_.graph().outputs) {
    outputs.push_back(run_.exchange(builder_, output.name, output.tensor));
  }
  report_.ops = ops_;
  report_.steps = run_.steps();
  report_.barriers = run_.barriers();
  report_.arena_bytes = run_.arena().bytes();
  report_.arena_growths = run_.arena().growths();
  ++report_.submits;
  const auto running = core_->hold_running();
  submission_->submit_last({std::move(body), new_growths(), begin, then, true}, std::move(outputs),
                           run_.take_arena(), report_, record());
  reported_ = true;
}

void DirectSession::require_default(const FinishOptions& options) const {
  const FinishOptions defaults;
  const std::array<std::pair<bool, std::string_view>, 6> given{
      {{options.reuse != defaults.reuse, "reuse"},
       {options.passes != defaults.passes, "passes"},
       {options.slots != defaults.slots, "slots"},
       {options.run != defaults.run, "run"},
       {!(options.pool == defaults.pool), "pool"},
       {options.joined_host_steps != defaults.joined_host_steps, "joined_host_steps"}}};
  for (const auto& [differs, option] : given) {
    if (differs) {
      throw_invalid_argument("The session '", options_.name,
                             "' is direct, but finish() was given (", option,
                             "), which only recorded sessions have.");
    }
  }
}

FinishResult DirectSession::finish(Recorder& recorder, const FinishOptions& options) {
  return end(recorder, [&]() -> FinishResult {
    require_default(options);
    const auto submission = submit_all(AfterSubmit::will_wait);
    const Ticket ticket({submission, &submission->slot()});
    ticket.wait();
    return {submission->report(), OutputSet::of(ticket), CapturedGraph()};
  });
}

Ticket DirectSession::submit(Recorder& recorder) {
  return end(recorder, [&] {
    const auto submission = submit_all(AfterSubmit::will_continue);
    return Ticket({submission, &submission->slot()});
  });
}

}  // namespace reprise
