// Passes: what makes a recorded graph cheaper before it is planned. Each reads the graph and a
// schedule and changes the schedule alone; it reports what it decided.
#pragma once
#include "reprise/graph/schedule.h"

namespace reprise {

/// Which of them run. All of them are exact: the outputs have the same bits.
struct PassOptions {
  static constexpr PassOptions none() { return {false, false, false}; }
  static constexpr PassOptions exact() { return {true, true, true}; }
  bool dead_nodes = false;  // leaves out what nobody reads
  bool reorder = false;     // fewer barriers, where nodes need not wait in recorded order
  bool in_place = false;    // results lie where an operand was that is read for the last time
};

/// The passes that choose and order nodes, one after another.
Schedule run_passes(const ComputeGraph& graph, const PassOptions& options);

/// Leaves out nodes whose results nobody reads: they are no outputs, lie in no persistent tensor
/// and no node that runs reads them. Host steps always run.
void remove_dead_nodes(const ComputeGraph& graph, Schedule& schedule);

/// Moves nodes forward to a barrier's side where they do not have to wait: fewer barriers, or the
/// order as it was. Nothing moves across a host step or a node that decides about iterations.
void reorder_nodes(const ComputeGraph& graph, Schedule& schedule);

}  // namespace reprise
