// DryCapture: what a recorded session would have made a graph of. Nothing of it runs and nothing is
// allocated for it.
#pragma once
#include "reprise/session/graph_executor.h"

namespace reprise {

struct DryCapture {
  struct Port {
    std::string name;
    std::uint32_t tensor;  // of the graph
  };
  std::shared_ptr<const RecordedGraph> recorded;
  std::vector<Port> inputs, outputs;  // in order of declaration

  static DryCapture of(GraphExecutor& executor, const RecordFunction& pass, SessionOptions session);
};

}  // namespace reprise
