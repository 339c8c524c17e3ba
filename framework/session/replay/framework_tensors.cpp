#include "framework/session/replay/framework_tensors.h"

namespace reprise {

std::vector<FrameworkTensor> FrameworkTensor::all(const ExecutorCore& core, const StateBlock& state,
                                                  const IterationRows& rows) {
  std::vector<FrameworkTensor> list;
  if (state) {
    const StateMemory& memory = state.inner();
    list.push_back({StorageOrigin::state, memory.block});
    list.push_back({StorageOrigin::state_patch, memory.patch});
    list.push_back({StorageOrigin::state_table, memory.table});
    for (const StateArray& array : memory.arrays) {
      list.push_back({StorageOrigin::state_array, array.tensor});
    }
  } else {
    list.push_back({StorageOrigin::empty_state, core.empty_state()});
  }
  if (rows) {
    list.push_back({StorageOrigin::iteration, rows.iteration});
    list.push_back({StorageOrigin::iteration_rows, rows.rows});
  }
  return list;
}

}  // namespace reprise
