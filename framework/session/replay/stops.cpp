#include "framework/session/replay/stops.h"

#include <algorithm>
#include <array>

namespace reprise {

Stops::Stops(ExecutorCore& core, const PassPlan& plan, const Memory& memory, HostContext* context)
    : core_(core), plan_(plan.execution), memory_(memory), context_(context) {
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

std::vector<std::uint32_t> Stops::read(const Tensor& tensor, std::size_t words) const {
  const TensorRef from(tensor);
  std::vector<std::uint32_t> values(words);
  core_.device().read(from->buffer, from->offset, std::as_writable_bytes(std::span(values)));
  return values;
}

std::optional<Stops::Stop> Stops::find(const Slot& slot, bool brought_back) const {
  std::uint32_t ran = 1, number = 0;
  if (brought_back && slot.exchange().rows()) {
    ran = std::max(slot.exchange().ran(), 1U);
    number = slot.exchange().stopped_at();
  } else {
    number = read(memory_.rows().iteration, kGridHeaderWords)[kIterationStop];
  }
  if (number == 0) {
    return std::nullopt;
  }
  try {
    if (!brought_back) {
      const StateMemory& state = memory_.state().inner();
      return Stop{places_.at(number - 1), ran - 1, read(state.block, state.layout.words())};
    }
    const std::span<const std::uint32_t> state = slot.state_now();
    return Stop{places_.at(number - 1), ran - 1, {state.begin(), state.end()}};
  } catch (...) {
    give_up();
    throw;
  }
}

void Stops::serve(const Stop& stop) const {
  const auto& [place, done, state] = stop;
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

void Stops::go_on(const Stop& stop) const {
  write_grids(core_.device(), memory_.rows().iteration, plan_->steps.grids(), plan_->graph->extents,
              stop.state);
}

void Stops::give_up() const {
  const TensorRef iteration(memory_.rows().iteration);
  constexpr std::array<std::uint32_t, 1> kNowhere{};
  core_.device().write(iteration->buffer, iteration->offset + kIterationStop * sizeof(kNowhere),
                       std::as_bytes(std::span(kNowhere)));
}

}  // namespace reprise
