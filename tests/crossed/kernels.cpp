// Kernels of the caller's that programs call.
#include <algorithm>

#include "tests/crossed/record.h"
#include "tests/session/custom_kernels.h"

namespace reprise::crossed {

void compile_kernels(const Device& device, const Program& program, Surroundings& surroundings) {
  if (program.has(OpKind::custom)) {
    KernelInterface interface = testing::elementwise_interface();
    interface.rows_axis = 0;
    surroundings.product = testing::product_kernel(device, interface);
  }
  if (program.has(OpKind::accumulate)) {
    surroundings.accumulate = testing::accumulate_kernel(device);
  }
}

}  // namespace reprise::crossed
