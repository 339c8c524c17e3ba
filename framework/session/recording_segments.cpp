// What of a recording runs between its prologue and its epilogue: its steps as segments, cut by
// host steps, and parts of them.
#include <algorithm>

#include "framework/session/host_clock.h"
#include "framework/session/labels.h"
#include "framework/session/recording.h"
#include "reprise/graph/structure_hash.h"

namespace reprise {

CapturedGraph::Recording::Steps CapturedGraph::Recording::all_steps() const {
  return {0, static_cast<std::uint32_t>(plan_->steps.size())};
}

std::span<const StagedHostStep> CapturedGraph::Recording::host_steps_in(Steps range) const {
  const auto begin = std::ranges::lower_bound(host_steps_, range.begin, {}, &StagedHostStep::step);
  const auto end = std::ranges::lower_bound(host_steps_, range.end, {}, &StagedHostStep::step);
  return {begin, end};
}

namespace {

[[noreturn]] void fail_at(const Error& cause, const ComputeGraph& graph, std::uint32_t node) {
  ErrorPlace place{.graph = graph.name};
  if (node < graph.nodes.size()) {
    const Node& n = graph.nodes[node];
    place.op = node;
    place.scope = graph.names.path(n.scope);
    place.where = n.where;
  }
  throw Error(cause, "(while encoding " + describe_node(graph, node) + " of '" + graph.name + "')",
              std::move(place));
}

}  // namespace

Body CapturedGraph::Recording::encode_steps(Steps range, TimingMode mode,
                                            std::span<const std::shared_ptr<Buffer>> pools,
                                            std::shared_ptr<Timestamps> stamps,
                                            TapStaging taps) const {
  const ExecutionPlan& plan = *plan_;
  const ComputeGraph& graph = *plan_->graph;
  DriverWork work = driver_work();
  Backend& backend = core_->device().backend();
  const std::span<const StagedHostStep> host_steps = host_steps_in(range);
  auto host_step = host_steps.begin();
  Body body;
  const auto open = [&](std::shared_ptr<HostSignal> after) {
    return backend.encoder({.name = graph.name,
                            .reusable = replays(),
                            .ends_at_host = host_step != host_steps.end(),
                            .after = std::move(after)});
  };
  std::unique_ptr<Encoder> encoder = open(nullptr);
  if (mode != TimingMode::off) {
    body.stamps =
        stamps == nullptr ? backend.timestamps(range.end - range.begin + 1) : std::move(stamps);
    encoder->reset(body.stamps);
    encoder->stamp(body.stamps, 0);
  }
  std::optional<Labels> labels(std::in_place, *encoder);
  const auto close = [&]() -> EncodingRef {
    labels->close();
    return encoder->finish();
  };
  auto barrier = std::ranges::lower_bound(plan.barriers, range.begin, {}, &Barrier::before_step);
  try {
    for (std::uint32_t s = range.begin; s < range.end; ++s) {
      work.at(plan.steps[s].node);
      labels->enter(graph.names, graph.nodes[plan.steps[s].node].scope);
      const bool waits = barrier != plan.barriers.end() && barrier->before_step == s;
      barrier += waits ? 1 : 0;
      if (waits || mode == TimingMode::node_serialised || core_->serialize()) {
        encoder->barrier();
      }
      if (is_host_step(plan.steps[s])) {
        host_step->encode_reads(*encoder, pools);
        (body.encoding == nullptr ? body.encoding : body.segments.emplace_back()) = close();
        const StagedHostStep& done = *host_step++;
        encoder = open(host_signal_);
        labels.emplace(*encoder);
        done.encode_writes(*encoder, pools);
      } else {
        encoder->step(plan.steps, s, pools);
      }
      encode_taps(*encoder, taps, s, pools);
      if (body.stamps != nullptr) {
        encoder->stamp(body.stamps, s - range.begin + 1);
      }
    }
  } catch (const Error& cause) {
    fail_at(cause, graph, work.node());
  }
  (body.encoding == nullptr ? body.encoding : body.segments.emplace_back()) = close();
  return body;
}

void CapturedGraph::Recording::run_host_step(const StagedHostStep& step) {
  struct Mark {
    explicit Mark(bool& of) : flag(of) { flag = true; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() { flag = false; }
    bool& flag;
  };
  const Mark mark(in_host_step_);
  step.call(context_);
}

/// The executor may shut down while the functions of host steps run, and they may use it.
void CapturedGraph::Recording::submit_part(Slot& slot, const SlotLaunch& part) {
  const auto running = core_->hold_running();
  const DriverWork work = driver_work();
  slot.submit(part);
}

void CapturedGraph::Recording::submit_segments(Slot& slot, const SlotLaunch& launch, Steps range) {
  const std::span<const StagedHostStep> host_steps = host_steps_in(range);
  if (host_steps.empty()) {
    submit_part(slot, launch);
    return;
  }
  Backend& backend = core_->device().backend();
  const bool joined = host_signal_ != nullptr;
  const auto node_of = [&](std::uint32_t step) {
    const StepList& steps = plan_->steps;
    return step < steps.size() ? steps[step].node
                               : static_cast<std::uint32_t>(graph().nodes.size());
  };
  SubmissionTimes before{.submits = 0};
  std::uint32_t next_node = node_of(range.begin);
  // Segment s is what lies between the host steps s - 1 and s.
  const auto submit_segment = [&](std::size_t s) {
    const bool last = s == host_steps.size();
    const std::uint32_t end = node_of(last ? range.end : host_steps[s].step());
    const std::vector<StateGrowth> growths =
        growths_of(graph(), std::exchange(next_node, end), end);
    const Body body{s == 0 ? launch.body.encoding : launch.body.segments[s - 1],
                    launch.body.stamps};
    submit_part(slot, {.body = body,
                       .growths = growths,
                       .mode = launch.mode,
                       .iterations = launch.iterations,
                       .sequence = launch.sequence,
                       .begin_ns = s == 0 ? launch.begin_ns : now_ns(),
                       .then = last ? launch.then : AfterSubmit::will_wait,
                       .part = s == 0 ? SlotPart::first
                               : last ? SlotPart::last
                                      : SlotPart::middle,
                       .limits = launch.limits,
                       .keeps_patches = launch.keeps_patches && s == 0});
    if (s == 0) {
      before = slot.times();
    } else if (!last) {
      before.submit_ns += slot.times().submit_ns;
      ++before.submits;
    }
  };
  const auto run = [&](std::size_t h, std::uint64_t after) {
    const std::int64_t waiting = now_ns();
    backend.wait(after);
    const std::int64_t called = now_ns();
    run_host_step(host_steps[h]);
    before.wait_ns += static_cast<std::uint64_t>(called - waiting);
    before.host_step_ns += static_cast<std::uint64_t>(now_ns() - called);
  };
  submit_segment(0);
  std::size_t raised = 0, submitted = 0;
  try {
    if (joined) {
      for (; submitted < host_steps.size(); ++submitted) {
        segments_[submitted] = slot.times().submission;
        submit_segment(submitted + 1);
      }
      for (; raised < host_steps.size(); ++raised) {
        run(raised, segments_[raised]);
        backend.raise(host_signal_);
      }
    } else {
      for (std::size_t h = 0; h < host_steps.size(); ++h) {
        run(h, slot.times().submission);
        submit_segment(h + 1);
      }
    }
  } catch (...) {
    if (joined) {
      drain(host_steps.subspan(raised, submitted - raised), raised);
      slot.abandon();
    }
    throw;
  }
  slot.add_parts(before);
}

void CapturedGraph::Recording::drain(std::span<const StagedHostStep> host_steps,
                                     std::size_t first) noexcept {
  Backend& backend = core_->device().backend();
  for (std::size_t h = 0; h < host_steps.size(); ++h) {
    try {
      backend.wait(segments_[first + h]);
      host_steps[h].skip();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the launch throws why
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        backend.raise(host_signal_);
        break;
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the device is lost, or it is not
      }
    }
  }
}

PartialRun CapturedGraph::Recording::run_part(std::uint32_t node, bool alone) {
  const StepList& steps = plan_->steps;
  const std::vector<std::uint32_t>& ranks = plan_->ranks;
  if (node >= ranks.size()) {
    throw_invalid_argument("The graph '" + graph().name + "' has no node (" + std::to_string(node) +
                           "); it has " + std::to_string(ranks.size()) + ".");
  }
  if (ranks[node] == kNoIndex) {
    throw_invalid_argument("The graph '" + graph().name + "' does not run " +
                           describe_node(graph(), node) + ": a pass removed it.");
  }
  require_partial();
  begin_run();
  Steps range{0, 0};
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    range.begin += alone && ranks[steps[s].node] < ranks[node] ? 1U : 0U;
    range.end += ranks[steps[s].node] <= ranks[node] ? 1U : 0U;
  }
  run_once(range, encode_steps(range, TimingMode::off, memory_.buffers()));
  return {shared_from_this(), node, runs_};
}

TappedRun CapturedGraph::Recording::run_tapped(const std::string& pattern) {
  require_partial();
  begin_run();
  const TapList list = find_taps(*plan_, {.tensors = pattern}, ~std::uint64_t{0} / 2);
  TapStaging taps{list.taps};
  if (list.bytes > 0) {
    taps.staging = core_->device().backend().allocate(
        "tapped tensors", list.bytes, BufferKind::download, MemoryPurpose::exchange);
  }
  TappedRun run;
  run_once(all_steps(),
           encode_steps(all_steps(), TimingMode::off, memory_.buffers(), nullptr, taps),
           [&](const Slot& slot) {
             for (const Tap& tap : list.taps) {
               const TensorSpec spec = spec_of(*plan_, tap.tensor, slot.state_words(0));
               const std::byte* begin = taps.staging->mapped() + tap.staging_offset;
               run.tensors.push_back({tap, spec, {begin, begin + spec.bytes()}});
             }
           });
  return run;
}

void CapturedGraph::Recording::require_partial() const {
  if (rows_.capacity > 1) {
    throw_invalid_argument("The graph '" + graph().name + "' runs up to (" +
                           std::to_string(rows_.capacity) +
                           ") iterations per launch; only graphs of one run in part.");
  }
}

void CapturedGraph::Recording::run_once(Steps range, const Body& body,
                                        const std::function<void(const Slot&)>& after) {
  struct Part final : SlotOwner {
    explicit Part(std::string_view of) : graph(of) {}
    std::string_view graph_name() const override { return graph; }
    void completed(const Slot& /*slot*/) override {}
    void failed(const Slot& /*slot*/, const Error& /*error*/) noexcept override {}
    std::string_view graph;
  } part(graph_name());
  Staging staging;
  Slot slot(core_->device(), state(), slots_[0].slot->inputs(), {}, IterationRows(), staging, part);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::ranges::copy(inputs_[i].bytes, slot.input_bytes(slot.inputs()[i]));
  }
  submit_segments(
      slot,
      {.body = body, .begin_ns = now_ns(), .limits = limits_, .keeps_patches = range.begin > 0},
      range);
  slot.wait();
  if (after) {
    after(slot);
  }
}

}  // namespace reprise
