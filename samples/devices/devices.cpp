// The devices of this machine, one that meets what a program needs, and what it says of itself.
#include <cstdio>

#include "reprise/reprise.h"
#include "reprise/session/support.h"

int main() {
  for (const auto& found : reprise::enumerate()) {
    std::printf("%s: %s\n", found.name.c_str(), found.info.type.c_str());
  }
  const auto device = reprise::open_device(
      reprise::DeviceRequirements{.memory_bytes = 1U << 28U, .timestamps = true},
      {.memory_budget = 64U << 20U, .on_memory_pressure = [](auto pressure, const auto& memory) {
         std::printf("pressure %s at %llu bytes\n", std::string(name_of(pressure)).c_str(),
                     static_cast<unsigned long long>(memory.total.bytes));
       }});
  reprise::GraphExecutor executor(device);
  const auto w = device.zeros({4096, 3200}, reprise::DType::f32, "w");
  for (const auto& node : supports(executor, [&](reprise::GraphSession& s) {
         const auto x = s.input("x", {1, 3200}, std::vector<float>(3200));
         const auto up = matmul(s, x, w);
         s.output("y", silu_mul(s, matmul(s, x, w), up));
       })) {
    std::printf("%s: %s\n", node.op.c_str(), std::string(name_of(node.support.kind)).c_str());
  }
  try {
    (void)device.zeros({4096, 4096}, reprise::DType::f32, "too large");
  } catch (const reprise::Error& error) {
    std::printf("%s\n", std::string(name_of(error.code())).c_str());
  }
  device.shutdown();
  const auto status = device.status();
  std::printf("%s, %llu in flight\n", std::string(name_of(status.state)).c_str(),
              static_cast<unsigned long long>(status.in_flight));
}
