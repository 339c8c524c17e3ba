#include "framework/session/replay/stops.h"

#include <algorithm>
#include <array>

#include "framework/session/executor/host_clock.h"

namespace reprise {

Stops::Stops(ExecutorCore& core, const PassPlan& plan, const Memory& memory, HostSteps& host_steps,
             HostContext* context)
    : core_(core),
      plan_(plan.execution),
      memory_(memory),
      host_steps_(host_steps),
      context_(context) {
  for (std::uint32_t call = 0; call < plan.expert_calls.size(); ++call) {
    for (const std::uint32_t node : plan.expert_calls[call].stops) {
      std::uint32_t step = 0;
      while (plan_->steps[step].node != node) {
        ++step;
      }
      places_.push_back({step, node, call, plan.functions.at(node)});
    }
  }
}

Stops::Located Stops::locate(std::uint32_t tensor, std::span<const std::uint32_t> state) const {
  const GraphTensor& t = plan_->graph->tensors[tensor];
  return {settled(t.spec, state), memory_.buffer_of(t.storage),
          plan_->places[t.storage].offset + t.offset};
}

Stops::Stopped Stops::stopped(const Slot& slot, bool brought_back) const {
  if (brought_back && slot.exchange().rows()) {
    return {slot.exchange().ran(), slot.exchange().stopped_at()};
  }
  std::array<std::uint32_t, kGridHeaderWords> header{};
  const TensorRef iteration(memory_.rows().iteration);
  core_.device().read(iteration->buffer, iteration->offset,
                      std::as_writable_bytes(std::span(header)));
  return {1, header[kIterationStop]};
}

std::vector<std::uint32_t> Stops::state_of(const Slot& slot, bool brought_back) const {
  if (brought_back) {
    const std::span<const std::uint32_t> words = slot.state_now();
    return {words.begin(), words.end()};
  }
  const TensorRef block(memory_.state().inner().block);
  std::vector<std::uint32_t> words(memory_.state().layout().words());
  core_.device().read(block->buffer, block->offset, std::as_writable_bytes(std::span(words)));
  return words;
}

void Stops::serve(const Place& place, std::span<const std::uint32_t> state) const {
  const ComputeGraph& graph = *plan_->graph;
  const Device& device = core_.device();
  const std::size_t result = graph.nodes[place.node].op->operands.size();
  const Located from = locate(graph.tensor_at(place.node, 0), state);
  const Located to = locate(graph.tensor_at(place.node, result), state);
  std::vector<std::byte> read(from.spec.bytes()), written(to.spec.bytes());
  device.read(from.buffer, from.offset, read);
  const HostStepTensor inputs[] = {{from.spec, read}}, outputs[] = {{to.spec, written}};
  HostStepCall call(graph.label_of(place.node), inputs, outputs, nullptr, context_);
  place.function(call);
  device.write(to.buffer, to.offset, written);
}

void Stops::submit(Slot& slot, const SlotLaunch& launch, StepRange range, const Encode& encode,
                   std::uint64_t recording) {
  const Device& device = core_.device();
  Body body = launch.body;
  TimingMode mode = launch.mode;
  std::uint32_t begin = range.begin, done = 0;
  std::size_t segment = 0;
  SubmissionTimes before{.submits = 0};
  bool first = true, stops = false;
  std::optional<std::pair<std::uint32_t, std::int64_t>> idle;  // which expert call, since when
  host_steps_.forget_idle();
  try {
    for (;;) {
      const std::span<const StagedHostStep> host_steps = host_steps_.in({begin, range.end});
      const bool last = host_steps.empty();
      const Body part{segment == 0 ? body.encoding : body.segments[segment - 1], body.stamps,
                      body.next};
      if (!first) {
        before.submit_ns += slot.times().submit_ns;
        ++before.submits;
      }
      host_steps_.submit_part(slot,
                              {.body = part,
                               .growths = first ? launch.growths : std::span<const StateGrowth>(),
                               .mode = mode,
                               .iterations = launch.iterations - done,
                               .sequence = launch.sequence,
                               .begin_ns = first ? launch.begin_ns : now_ns(),
                               .sends = first,
                               .brings_back = last,
                               .limits = launch.limits,
                               .keeps_patches = launch.keeps_patches && first,
                               .may_stop = true,
                               .done = done},
                              recording);
      if (first) {
        before.submit_time_ns = slot.times().submit_time_ns;
        before.prepare_ns = slot.times().prepare_ns;
      }
      first = false;
      if (idle) {
        host_steps_.add_idle(idle->first, now_ns() - idle->second);
        idle.reset();
      }
      const std::int64_t waiting = now_ns();
      device.backend().wait(slot.times().submission);
      const std::int64_t called = now_ns();
      before.wait_ns += static_cast<std::uint64_t>(called - waiting);
      const Stopped now = stopped(slot, last);
      stops = now.at != 0;
      if (stops) {
        const Place& place = places_.at(now.at - 1);
        idle.emplace(place.expert_call, called);
        const std::vector<std::uint32_t> state = state_of(slot, last);
        serve(place, state);
        done = std::max(now.ran, 1U) - 1;
        begin = place.step + 1;
        segment = 0;
        body = encode({begin, range.end});
        while (body.next.size() + 1 < launch.iterations - done) {
          body.next.push_back(core_.traits().replays ? launch.body.encoding
                                                     : encode(range).encoding);
        }
        mode = TimingMode::off;
        write_grids(device, memory_.rows().iteration, plan_->steps.grids(), plan_->graph->extents,
                    state);
        stops = false;
      } else if (last) {
        break;
      } else {
        host_steps_.run(host_steps.front());
        begin = host_steps.front().step() + 1;
        ++segment;
      }
      before.host_step_ns += static_cast<std::uint64_t>(now_ns() - called);
    }
  } catch (...) {
    if (stops) {  // the next launch begins anew
      const TensorRef iteration(memory_.rows().iteration);
      constexpr std::array<std::uint32_t, 1> kNowhere{};
      device.write(iteration->buffer, iteration->offset + kIterationStop * sizeof(kNowhere),
                   std::as_bytes(std::span(kNowhere)));
    }
    throw;
  }
  slot.add_parts(before);
  slot.hold({.body = launch.body,
             .mode = mode,
             .iterations = launch.iterations,
             .sequence = launch.sequence});
}

}  // namespace reprise
