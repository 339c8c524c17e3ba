// Passes: what makes a recorded graph cheaper before it is planned. Each reads the graph and a
// schedule and changes the schedule alone, but the last one, which is about the memory of a plan.
// It reports what it decided.
#pragma once
#include "framework/core/fusion.h"
#include "framework/graph/schedule.h"
#include "reprise/graph/passes.h"

namespace reprise {

/// The passes that choose, fuse and order nodes, one after another.
Schedule run_passes(const ComputeGraph& graph, const DeviceTraits& traits,
                    const PassOptions& options, const FusionRules& rules);

/// Leaves out nodes whose results nobody reads: they are no outputs, lie in no persistent tensor
/// and no node that runs reads them. Host steps always run.
void remove_dead_nodes(const ComputeGraph& graph, Schedule& schedule);

/// Makes one call of two nodes wherever a rule allows it, rule by rule in their order. Both kinds
/// of rules are given; only those that the options ask for are applied.
void fuse_nodes(const ComputeGraph& graph, const DeviceTraits& traits, const PassOptions& options,
                const FusionRules& rules, Schedule& schedule);

/// Makes one call of nodes that read the same operand, in the place of the first, wherever a rule
/// allows it.
void group_nodes(const ComputeGraph& graph, const DeviceTraits& traits, const FusionRules& rules,
                 Schedule& schedule);

/// Moves nodes forward to a barrier's side where they do not have to wait: fewer barriers, or the
/// order as it was. Nothing moves across a host step or a node that decides about iterations.
void reorder_nodes(const ComputeGraph& graph, Schedule& schedule);

/// In place: a result lies where an operand was that nobody needs any more (OpDef::overwrites).
/// Enters into `homes` whose memory each storage takes over, and its decisions into the plan; true
/// if there is any. Bindings of the steps name storages, which have their lifetimes. No barrier is
/// needed for it: with `epochs`, operands that others read in the same epoch are left alone.
bool find_in_place(const ComputeGraph& graph, ExecutionPlan& plan,
                   std::span<const std::uint32_t> epochs, std::span<std::uint32_t> homes);

}  // namespace reprise
