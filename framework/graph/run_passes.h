// Passes: what makes a recorded graph cheaper before it is planned. Each reads the graph and a
// schedule and changes the schedule alone; it reports what it decided.
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

}  // namespace reprise
