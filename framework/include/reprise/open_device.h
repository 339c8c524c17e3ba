// Finding and opening devices. Comes with reprise::reprise, which knows the built-in backends.
// All functions may be called concurrently.
#pragma once
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/backend_factory.h"
#include "reprise/session/device.h"

namespace reprise {

/// "auto": a real GPU if there is one, else "cpu", never a software Vulkan driver.
/// "vulkan", "cpu", a registered backend: its first device, software drivers included.
/// "vulkan:1": that one. "vulkan:llvm": the one with this in its name, upper or lower case.
/// "discrete", "integrated", "virtual": the first of that type, of any backend.
/// Any number may be open at once, the same one twice too. Throws unsupported if there is no such
/// device, invalid_argument for another word and for a part of several names; all list what there
/// is.
Device open_device(std::string_view name = "auto", const OpenOptions& options = {});
/// The first device that has all of that: GPUs, then the CPU, then software drivers. Throws
/// unsupported with what each device lacks.
Device open_device(const DeviceRequirements& wanted, const OpenOptions& options = {});
/// The same on a thread of its own: opening may compile, and read caches. Errors come with get().
std::future<Device> open_device_async(std::string name, OpenOptions options = {});

struct FoundDevice {
  std::string name;  // what open_device accepts: "vulkan:0"
  DeviceInfo info;
  BackendCapabilities capabilities;
};
/// All devices of all backends; a machine without drivers has the CPU.
std::vector<FoundDevice> enumerate();

struct BackendName {
  std::string name, version;
};
/// Built-in ones first.
std::vector<BackendName> backends();
/// Adds a backend to this program. Throws invalid_argument for a name that is taken, that has other
/// characters than lower-case letters, digits and '_', or that means something else here, and for
/// a factory without functions.
void register_backend(BackendFactory factory);
/// False if none of that name was registered; built-in ones stay. Devices that are open stay open.
bool unregister_backend(std::string_view name);

/// Messages of the Vulkan validation layer so far; 0 for other devices.
std::uint64_t validation_message_count(const Device& device);

}  // namespace reprise
