#include "reprise/graph/execution_plan.h"

#include <algorithm>

namespace reprise {
namespace {

/// First and last step that uses each storage. Inputs live from the start, outputs to the end, and
/// inputs to the end too: a launch writes them once and may run the steps several times.
void find_lifetimes(const ComputeGraph& graph, ExecutionPlan& plan) {
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s) {
    for (const Binding& binding : plan.steps.bindings(plan.steps[s])) {
      if (binding.bytes == 0) {
        continue;  // an absent operand of a call
      }
      Place& place = plan.places[binding.pool];
      place.first_step = std::min(place.first_step, s);
      place.last_step = place.last_step == kNoIndex ? s : std::max(place.last_step, s);
    }
  }
  const auto end = static_cast<std::uint32_t>(plan.steps.size());
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    Place& place = plan.places[i];
    const Storage& storage = graph.storages[i];
    if (storage.input) {
      place.first_step = 0;
      place.last_step = end;
    } else if (storage.output) {
      place.first_step = std::min(place.first_step, end);
      place.last_step = end;
    }
  }
}

std::vector<std::uint32_t> place_barriers(ExecutionPlan& plan) {
  std::vector<std::uint32_t> epoch_of_step;
  epoch_of_step.reserve(plan.steps.size() + 1);
  HazardTracker tracker;
  std::vector<Touch> touches;
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s) {
    touches_of(plan.steps, plan.steps[s], touches);
    tracker.step(s, touches);
    epoch_of_step.push_back(static_cast<std::uint32_t>(tracker.barriers().size()));
  }
  epoch_of_step.push_back(epoch_of_step.empty() ? 0 : epoch_of_step.back());
  plan.barriers = tracker.barriers();
  return epoch_of_step;
}

void place_transients(const ComputeGraph& graph, ExecutionPlan& plan,
                      std::span<const std::uint32_t> epoch_of_step) {
  std::vector<Lifetime> by_step;
  std::vector<Lifetime> lifetimes;
  std::vector<std::size_t> storages;
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    const Place& place = plan.places[i];
    if (graph.storages[i].kind != StorageKind::transient || place.first_step == kNoIndex) {
      continue;
    }
    storages.push_back(i);
    by_step.push_back({graph.storages[i].bytes, place.first_step, place.last_step});
    lifetimes.push_back(by_step.back());
    if (!epoch_of_step.empty()) {
      lifetimes.back().first = epoch_of_step[place.first_step];
      lifetimes.back().last = epoch_of_step[place.last_step];
    }
    plan.naive_bytes +=
        (graph.storages[i].bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  }
  const MemoryPlan memory = plan_memory(lifetimes);
  for (std::size_t k = 0; k < storages.size(); ++k) {
    plan.places[storages[k]].offset = memory.offsets[k];
  }
  plan.arena_bytes = memory.arena_bytes;
  plan.live_peak_bytes = live_peak(by_step);
}

std::uint32_t storage_of(const ComputeGraph& graph, std::uint32_t tensor) {
  return tensor == kNoIndex ? kNoIndex : graph.tensors[tensor].storage;
}

/// Whether the node writes what the others read their grids from: it has to run every time.
bool decides_iterations(const ComputeGraph& graph, std::uint32_t node) {
  return std::ranges::any_of(graph.uses_of(graph.nodes[node]), [&](const Use& use) {
    return use.tensor == graph.iteration_tensor && writes(use.access);
  });
}

void place_persistent(const ComputeGraph& graph, ExecutionPlan& plan) {
  plan.pools.push_back({"arena", plan.arena_bytes, nullptr});
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    const Storage& storage = graph.storages[i];
    if (storage.kind == StorageKind::persistent) {
      const bool state = storage_of(graph, graph.state_tensor) == i ||
                         storage_of(graph, graph.iteration_tensor) == i;
      plan.places[i].pool = static_cast<std::uint32_t>(plan.pools.size());
      plan.pools.push_back({state ? "state" : "buffer", storage.bytes, storage.buffer});
    }
  }
}

void relocate(ExecutionPlan& plan) {
  for (Barrier& barrier : plan.barriers) {
    const Place& place = plan.places[barrier.range.buffer];
    barrier.range = {place.pool, barrier.range.begin + place.offset,
                     barrier.range.end + place.offset};
  }
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (Binding& binding : plan.steps.bindings(plan.steps[s])) {
      if (binding.bytes == 0) {
        binding.pool = ExecutionPlan::kArena;
        continue;
      }
      const Place& place = plan.places[binding.pool];
      binding.pool = place.pool;
      binding.offset += place.offset;
    }
  }
}

}  // namespace

void touches_of(const StepList& steps, const Step& step, std::vector<Touch>& out) {
  out.clear();
  for (const Binding& b : steps.bindings(step)) {
    out.push_back({{b.pool, b.offset, b.offset + b.bytes}, b.access});
  }
}

ExecutionPlan make_plan(const ComputeGraph& graph, const DeviceTraits& traits, ReuseRule rule) {
  ExecutionPlan plan;
  plan.reuse = rule;
  plan.steps.reserve(graph.nodes.size(), graph.uses.size());
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeCall node(graph, n);
    plan.steps.read_grids_from(decides_iterations(graph, n)
                                   ? StepList::kNoGrids
                                   : storage_of(graph, graph.iteration_tensor));
    lower(node.call(), traits, plan.steps);
  }
  plan.places.resize(graph.storages.size());
  find_lifetimes(graph, plan);
  // Epochs come from the barriers that unshared storage needs. Storages that are used in one epoch
  // never share memory, so placing by epochs neither adds barriers nor moves them.
  std::vector<std::uint32_t> epochs;
  if (rule == ReuseRule::epoch) {
    epochs = place_barriers(plan);
  }
  place_transients(graph, plan, epochs);
  place_persistent(graph, plan);
  relocate(plan);
  if (rule == ReuseRule::step) {
    place_barriers(plan);
  }
  return plan;
}

}  // namespace reprise
