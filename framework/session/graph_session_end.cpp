// How a GraphSession ends: what it submits, plans and reports.
#include <algorithm>
#include <array>
#include <iterator>

#include "framework/session/direct_run.h"
#include "framework/session/direct_submission.h"
#include "framework/session/framework_tensors.h"
#include "framework/session/host_clock.h"
#include "framework/session/iteration_rows.h"
#include "framework/session/recording.h"
#include "framework/session/warm_up.h"
#include "reprise/ops/fusions.h"

namespace reprise {

template <class F>
auto GraphSession::end(std::string_view what, F&& f) {
  return in_context(what, {}, [&] {
    require_all_inputs_used();
    if (options_.experts.store && !declares_inputs_) {
      throw_invalid_argument("The session '" + options_.name +
                             "' is given experts, which only passes of an ExecutableGraph have.");
    }
    if (rows_->iteration) {
      record_iteration_rows();
    }
    phase_ = Phase::finished;
    core_->set_last_sizes(capture_->sizes());
    try {
      return f();
    } catch (const Error& cause) {
      report_error(cause);
      throw;
    }
  });
}

void GraphSession::require_all_inputs_used() const {
  const ComputeGraph& graph = capture_->graph();
  for (const NamedInput& given : options_.inputs) {
    if (std::ranges::find(graph.inputs, given.name, &Port::name) == graph.inputs.end()) {
      throw Error(ErrorCode::unknown_name, "The session '" + options_.name +
                                               "' is given values of an input '" + given.name +
                                               "' that it does not declare.");
    }
    if (std::ranges::count(options_.inputs, given.name, &NamedInput::name) != 1) {
      throw_invalid_argument("The session '" + options_.name + "' is given values of its input '" +
                             std::string(given.name) + "' more than once; give it one value.");
    }
  }
}

void GraphSession::run_host_step() {
  submit_part(AfterSubmit::will_wait);
  const std::int64_t begin = now_ns();
  core_->device().backend().wait(direct_->last_submitted());
  const std::int64_t called = now_ns();
  part_wait_ns_ += static_cast<std::uint64_t>(called - begin);
  direct_->run_host_step();
  host_step_ns_ += static_cast<std::uint64_t>(now_ns() - called);
}

FinishResult GraphSession::finish(const FinishOptions& options) {
  return end("finish", [&] {
    if (direct_ == nullptr) {
      return finish_recorded(options);
    }
    require_default(options);
    return finish_direct();
  });
}

void GraphSession::record_iteration_rows() {
  record_rows(*this, options_.state.layout().words(), outputs_, *rows_);
}

Ticket GraphSession::submit() {
  in_context("submit", {}, [&] {
    if (direct_ == nullptr) {
      throw_invalid_argument(
          "The session '" + options_.name +
          "' is recorded; finish() it and launch its graph with launch_async().");
    }
  });
  return end("submit", [&] {
    const auto submission = submit_direct(AfterSubmit::will_continue);
    return Ticket({submission, &submission->slot()});
  });
}

void GraphSession::open_submission() {
  std::vector<Exchange> inputs;
  for (const Port& input : capture_->graph().inputs) {
    inputs.push_back(direct_->exchange(*capture_, "", input.tensor));
  }
  submission_ = std::make_shared<DirectSubmission>(core_, options_.name, options_.state,
                                                   std::move(inputs), direct_->staging());
  submission_->set_extents(direct_limits(), direct_->is_empty());
  const Slot& slot = submission_->slot();
  for (std::size_t i = 0; i < input_values_.size(); ++i) {
    std::ranges::copy(input_values_[i], slot.input_bytes(slot.inputs()[i]));
  }
}

std::vector<StateGrowth> GraphSession::new_growths() {
  const auto end = static_cast<std::uint32_t>(capture_->graph().nodes.size());
  return growths_of(capture_->graph(), std::exchange(submitted_nodes_, end), end);
}

void GraphSession::submit_part(AfterSubmit then) {
  if (before_submit_) {
    before_submit_(*capture_);
  }
  const auto running = core_->hold_running();
  const DriverWork work = direct_->driver_work(capture_->graph());
  EncodingRef part = direct_->cut();
  if (submission_ == nullptr) {
    open_submission();
  }
  direct_->submitted(submission_->submit_part(std::move(part), new_growths(), then));
  ++submits_;
}

std::shared_ptr<DirectSubmission> GraphSession::submit_direct(AfterSubmit then) {
  const ComputeGraph& graph = capture_->graph();
  const DriverWork work = direct_->driver_work(graph);
  if (before_submit_) {
    before_submit_(*capture_);
  }
  FinishReport report;
  const std::int64_t begin = now_ns();
  report.record_ns = static_cast<std::uint64_t>(begin - begin_ns_);
  DirectSubmission::Last last;
  last.body = direct_->finish();
  if (submission_ == nullptr) {
    open_submission();
  }
  for (const Port& output : graph.outputs) {
    last.outputs.push_back(direct_->exchange(*capture_, output.name, output.tensor));
  }
  report.ops = op_count();
  report.steps = direct_->steps();
  report.barriers = direct_->barriers();
  report.arena_bytes = direct_->arena_bytes();
  report.arena_growths = direct_->arena_growths();
  report.submits = ++submits_;
  report.host_step_ns = host_step_ns_;
  report.wait_ns = part_wait_ns_;
  last.arena = direct_->take_arena();
  last.growths = new_growths();
  last.report = report;
  last.record = session_record();
  last.begin_ns = begin;
  last.then = then;
  const auto running = core_->hold_running();
  submission_->submit(std::move(last));
  reported_ = true;
  return submission_;
}

namespace {

/// What a launch left; nothing if nothing ran.
OutputSet outputs_of(const Ticket& ticket) {
  OutputSet set;
  if (ticket.iterations() > 0) {
    for (const std::string& name : ticket.output_names()) {
      const auto [spec, bytes] = ticket.output(name);
      set.add(name, {spec, {bytes.begin(), bytes.end()}});
    }
  }
  return set;
}

}  // namespace

void GraphSession::require_default(const FinishOptions& options) const {
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
      throw_invalid_argument("The session '" + options_.name +
                             "' is direct, but finish() was given (" + std::string(option) +
                             "), which only recorded sessions have.");
    }
  }
}

FinishResult GraphSession::finish_direct() {
  const auto submission = submit_direct(AfterSubmit::will_wait);
  const Ticket ticket({submission, &submission->slot()});
  ticket.wait();
  return {submission->report(), outputs_of(ticket), CapturedGraph()};
}

PassPlan GraphSession::make_plan(const PlanOptions& options) {
  const std::int64_t begin = now_ns();
  ComputeGraph& graph = capture_->graph();
  for (const FrameworkTensor& known : FrameworkTensor::all(*core_, options_.state, *rows_)) {
    capture_->set_origin(known.tensor, known.origin);
  }
  graph.max_iterations = options_.max_iterations;
  if (options_.state) {
    graph.state_fields = options_.state.layout().fields();
    std::ranges::copy(options_.state.layout().arrays(), std::back_inserter(graph.state_fields));
  }
  PassPlan plan = PassPlan::of(*capture_, core_->traits(), options);
  plan.expert_calls = expert_calls_;
  plan.rows = *rows_;
  plan.session = profile_id_;
  plan.report.ops = op_count();
  plan.report.record_ns = static_cast<std::uint64_t>(begin - begin_ns_);
  plan.report.plan_ns = static_cast<std::uint64_t>(now_ns() - begin);
  return plan;
}

PassPlan GraphSession::take_plan(const PlanOptions& options, const std::string& outcome) {
  return end(outcome == "dry" ? "a dry capture" : "compile", [&] {
    PassPlan plan = make_plan(options);
    report_session(plan.report, outcome);
    return plan;
  });
}

WarmUp GraphSession::finish_warm() {
  return end("prewarm", [&] {
    const PassPlan plan = make_plan({});
    const WarmUp result = warm_up(core_->device().backend(), plan.execution->steps);
    report_session({}, "prewarmed");
    return result;
  });
}

FinishResult GraphSession::finish_recorded(const FinishOptions& options) {
  const PassPlan plan = make_plan({options.reuse, options.passes, fusion_rules()});
  FinishReport report = plan.report;
  auto recording = Recording::make(
      core_, plan, {.state = options_.state, .pool = options.pool},
      {.slots = options.slots, .joined_host_steps = options.joined_host_steps}, report);
  const std::vector<Port>& inputs = plan.graph().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    recording->inputs().set(inputs[i].name, inputs[i].spec.dtype, input_values_[i]);
  }
  OutputSet outputs;
  Ticket first;
  if (options.run) {
    first = recording->launch({}, true, AfterSubmit::will_wait, first).value();
    outputs = outputs_of(first);
    const SubmissionTimes& times = first.times();
    report.submit_ns = times.submit_ns;
    report.wait_ns = times.wait_ns;
    report.host_step_ns = times.host_step_ns;
    report.submits = times.submits;
    report.device_ns = times.device_ns;
  }
  report_session(report, "finished");
  recording->reporter().enter(profile_id_, report, recording->memory(), key_json_);
  return {report, std::move(outputs), CapturedGraph(std::move(recording), std::move(first))};
}

SessionRecord GraphSession::session_record() {
  SessionRecord record;
  record.id = profile_id_;
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

void GraphSession::report_session(const FinishReport& report, std::string outcome) {
  if (core_->profile() != nullptr && !reported_) {
    reported_ = true;
    SessionRecord record = session_record();
    record.submits = report.submits;
    core_->profile()->session(std::move(record), report, std::move(outcome));
  }
}

}  // namespace reprise
