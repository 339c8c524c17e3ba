// Opening a device by name. Comes with reprise::reprise, which knows the built-in backends.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/open_options.h"
#include "reprise/session/device.h"

namespace reprise {

/// "auto": a real GPU if there is one, else "cpu", never a software Vulkan driver.
/// "vulkan", "vulkan:1": the first or that Vulkan device, software drivers included. "cpu".
/// Throws unsupported if there is no such device, invalid_argument for another word; both list what
/// there is.
Device open_device(std::string_view name = "auto", const OpenOptions& options = {});

struct FoundDevice {
  std::string name;  // what open_device accepts: "vulkan:0"
  DeviceInfo info;
};
/// All devices of all backends; empty drivers are no error.
std::vector<FoundDevice> find_devices();

/// Messages of the Vulkan validation layer so far; 0 for other devices.
std::uint64_t validation_message_count(const Device& device);

}  // namespace reprise
