#include "debugger/model/layout.h"

namespace reprise::debugger {

std::vector<Layout> usual_layouts() {
  return {{"Inspect", {"outline", "graph", "inspector", "timeline"}},
          {"Performance", {"nodes", "graph", "inspector", "statistics"}, 520, 340, 300},
          {"Numerics", {"nodes", "graph", "tensors", "numerics"}, 400, 440, 260},
          {"Memory", {"outline", "graph", "inspector", "memory"}, 320, 340, 430}};
}

}  // namespace reprise::debugger
