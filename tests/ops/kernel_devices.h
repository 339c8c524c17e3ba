// Devices with the kernels of a family.
#pragma once
#include <optional>
#include <string>

#include "tests/testing.h"

namespace reprise::testing {

/// With those kernels, whatever the device would choose; none if it cannot run them.
inline std::optional<Device> device_with(const std::string& name,
                                         std::optional<KernelFamily> kernels) {
  try {
    return test_device(name, {}, kernels);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unsupported) {
      throw;
    }
    return std::nullopt;
  }
}

}  // namespace reprise::testing
