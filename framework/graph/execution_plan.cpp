#include "reprise/graph/execution_plan.h"

#include <algorithm>
#include <numeric>

#include "framework/core/lowering.h"
#include "framework/graph/hazards.h"
#include "framework/graph/make_plan.h"
#include "framework/graph/memory_plan.h"
#include "framework/graph/node_call.h"
#include "framework/graph/run_passes.h"
#include "framework/graph/schedule.h"

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
      place.last_step = s;
    }
  }
  const auto end = static_cast<std::uint32_t>(plan.steps.size());
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    Place& place = plan.places[i];
    const Storage& storage = graph.storages[i];
    if (storage.input || storage.output) {
      place.first_step = storage.input ? 0 : std::min(place.first_step, end);
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

/// Makes the steps use the storages whose memory theirs take over.
void move_in(ExecutionPlan& plan, std::span<const std::uint32_t> homes) {
  for (Binding& binding : plan.steps.bindings()) {
    if (binding.bytes != 0) {
      binding.pool = homes[binding.pool];
    }
  }
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62U;  // of sums that do not wrap

/// `homes`: of each storage the one whose memory it has, itself or an earlier one.
void place_transients(const ComputeGraph& graph, ExecutionPlan& plan,
                      std::span<const std::uint32_t> epoch_of_step,
                      std::span<const std::uint32_t> homes) {
  std::vector<Lifetime> by_step;
  std::vector<std::uint32_t> lifetime_of(homes.size(), kNoIndex);
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    const Place& place = plan.places[i];
    if (graph.storages[i].is_persistent() || place.first_step == kNoIndex) {
      continue;
    }
    if (homes[i] != i) {
      lifetime_of[i] = lifetime_of[homes[i]];
      Lifetime& shared = by_step[lifetime_of[i]];
      shared.last = std::max(shared.last, place.last_step);
      continue;
    }
    lifetime_of[i] = static_cast<std::uint32_t>(by_step.size());
    by_step.push_back({graph.storages[i].bytes, place.first_step, place.last_step});
    plan.naive_bytes += arena_aligned(graph.storages[i].bytes);
    if (const std::uint64_t most = std::max(graph.storages[i].bytes, plan.naive_bytes);
        most > kMostBytes) {
      throw_error(ErrorCode::out_of_memory, "Transients of the graph '", graph.name, "' take (",
                  most, ") bytes without reuse, more than the most of (", kMostBytes, ").");
    }
  }
  std::vector<Lifetime> lifetimes = by_step;
  for (Lifetime& lifetime : lifetimes) {
    if (!epoch_of_step.empty()) {
      lifetime.first = epoch_of_step[lifetime.first];
      lifetime.last = epoch_of_step[lifetime.last];
    }
  }
  const MemoryPlan memory = plan_memory(lifetimes);
  for (std::size_t i = 0; i < homes.size(); ++i) {
    if (lifetime_of[i] != kNoIndex) {
      plan.places[i].offset = memory.offsets[lifetime_of[i]];
    }
  }
  plan.arena_bytes = memory.arena_bytes;
  plan.live_peak_bytes = live_peak(by_step);
}

std::uint32_t storage_of(const ComputeGraph& graph, std::uint32_t tensor) {
  return tensor == kNoIndex ? kNoIndex : graph.tensors[tensor].storage;
}

void place_persistent(const ComputeGraph& graph, ExecutionPlan& plan) {
  plan.pools.push_back({"arena", plan.arena_bytes});
  for (std::size_t i = 0; i < graph.storages.size(); ++i) {
    const Storage& storage = graph.storages[i];
    if (storage.is_persistent()) {
      const bool state = storage_of(graph, graph.state_tensor) == i ||
                         storage_of(graph, graph.iteration_tensor) == i;
      plan.places[i].pool = static_cast<std::uint32_t>(plan.pools.size());
      plan.pools.push_back(
          {state ? "state" : "buffer", storage.bytes, static_cast<std::uint32_t>(i)});
    }
  }
}

void relocate(ExecutionPlan& plan) {
  for (Barrier& barrier : plan.barriers) {
    const Place& place = plan.places[barrier.range.buffer];
    barrier.range = {place.pool, barrier.range.begin + place.offset,
                     barrier.range.end + place.offset};
  }
  for (Binding& binding : plan.steps.bindings()) {
    if (binding.bytes == 0) {
      binding.pool = ExecutionPlan::kArena;
      continue;
    }
    const Place& place = plan.places[binding.pool];
    binding.pool = place.pool;
    binding.offset += place.offset;
  }
}

/// What came of placing barriers and memory, which no pass turns off.
void report_placement(ExecutionPlan& plan) {
  const std::size_t max = plan.steps.size() == 0 ? 0 : plan.steps.size() - 1;
  plan.decisions.push_back(
      {"barriers", "placed", kNoIndex, plan.barriers.size() < max,
       joined_text("(", plan.barriers.size(), ") barriers instead of one between every two steps (",
                   max, ")")});
  plan.decisions.push_back(
      {"memory", "placed", kNoIndex, plan.arena_bytes < plan.naive_bytes,
       joined_text("(", plan.arena_bytes, ") bytes instead of (", plan.naive_bytes,
                   ") without reuse; (", plan.live_peak_bytes, ") are alive at once")});
}

}  // namespace

void touches_of(const StepList& steps, const Step& step, std::vector<Touch>& out) {
  out.clear();
  for (const Binding& b : steps.bindings(step)) {
    out.push_back({{b.pool, b.offset, b.offset + b.bytes}, b.access});
  }
}

std::vector<std::uint32_t> running_order(const ExecutionPlan& plan) {
  std::vector<std::uint32_t> order(plan.ranks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t n) { return plan.ranks[n] == kNoIndex; });
  std::ranges::stable_sort(order, {}, [&](std::uint32_t n) { return plan.ranks[n]; });
  return order;
}

void add_up_transients(ExecutionPlan& plan) {
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    const Place& place = plan.places[i];
    const Storage& storage = plan.graph->storages[i];
    if (!storage.is_persistent() && place.first_step != kNoIndex) {
      lifetimes.push_back({storage.bytes, place.first_step, place.last_step});
      plan.naive_bytes += arena_aligned(storage.bytes);
    }
  }
  plan.live_peak_bytes = live_peak(lifetimes);
}

std::uint32_t fused_nodes(const ExecutionPlan& plan) {
  std::size_t nodes = 0;
  for (const auto& [node, fused] : plan.fused) {
    nodes += fused.members.size();
  }
  return static_cast<std::uint32_t>(nodes);
}

std::uint32_t moved_results(const ExecutionPlan& plan) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(plan.decisions, [](const PassDecision& decision) {
        return decision.pass == "in_place" && decision.applied;
      }));
}

ExecutionPlan make_plan(std::shared_ptr<const ComputeGraph> of, const DeviceTraits& traits,
                        const PlanOptions& options) {
  ExecutionPlan plan;
  plan.graph = std::move(of);
  const ComputeGraph& graph = *plan.graph;
  plan.reuse = options.reuse;
  plan.passes = options.passes;
  Schedule schedule = run_passes(graph, traits, options.passes, options.fusions);
  std::uint32_t next_rank = 0;
  bool decided = false;
  plan.steps.reserve(graph.nodes.size(), graph.uses.size());
  plan.ranks.assign(graph.nodes.size(), kNoIndex);
  for (const std::uint32_t n : schedule.order) {
    plan.ranks[n] = next_rank++;
    const NodeCall node(graph, n, scheduled_call(graph, schedule.fused, n));
    const bool decides = graph.decides_iterations(n);
    // The first one decides whether anything runs; others may end what does.
    plan.steps.read_grids_from(decides && !decided ? StepList::kNoGrids
                                                   : storage_of(graph, graph.iteration_tensor));
    decided = decided || decides;
    plan.steps.write_grids(decides);
    lower(node.call(), traits, plan.steps);
  }
  for (const auto& [n, fused] : schedule.fused) {
    for (const std::uint32_t member : fused.members) {
      plan.ranks[member] = plan.ranks[n];
    }
  }
  plan.fused = std::move(schedule.fused);
  plan.decisions = std::move(schedule.decisions);
  plan.places.resize(graph.storages.size());
  find_lifetimes(graph, plan);
  // Epochs come from the barriers that unshared storage needs. Storages that are used in one epoch
  // never share memory, so placing by epochs neither adds barriers nor moves them.
  std::vector<std::uint32_t> epochs;
  if (options.reuse == ReuseRule::epoch) {
    epochs = place_barriers(plan);
  }
  std::vector<std::uint32_t> homes(graph.storages.size());
  std::iota(homes.begin(), homes.end(), 0U);
  if (options.passes.in_place && find_in_place(graph, plan, epochs, homes)) {
    move_in(plan, homes);
    if (options.reuse == ReuseRule::epoch) {
      epochs = place_barriers(plan);
    }
  }
  place_transients(graph, plan, epochs, homes);
  place_persistent(graph, plan);
  relocate(plan);
  if (options.reuse == ReuseRule::step) {
    place_barriers(plan);
  }
  if (options.passes != PassOptions::none()) {
    report_placement(plan);
  }
  return plan;
}

}  // namespace reprise
