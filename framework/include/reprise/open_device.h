// Finding and opening devices. Comes with reprise::reprise, which knows the built-in backends.
// Threads: all functions may be called concurrently.
#pragma once
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/open_options.h"
#include "reprise/session/device.h"

namespace reprise {

struct BackendFactory;

/// Opens a device. Any number may be open at once, the same one twice too.
/// - "auto": a real GPU if there is one, else "cpu", never a software Vulkan driver.
/// - "vulkan", "cpu", a registered backend: its first device, software drivers included.
/// - "vulkan:1": that one. "vulkan:llvm": the one with this in its name, upper or lower case.
/// - "discrete", "integrated", "virtual": the first of that type, of any backend.
/// Errors: unsupported if no such device exists; invalid_argument for any other word and for a part
/// of several names. All list the present devices.
Device open_device(std::string_view name = "auto", const OpenOptions& options = {});
/// Opens the first device that meets all requirements: GPUs first, then the CPU, then software
/// drivers.
/// Errors: unsupported, with what each device lacks.
Device open_device(const DeviceRequirements& wanted, const OpenOptions& options = {});
/// Opens a device on a thread of its own, because opening may compile and read caches. Errors come
/// with get().
std::future<Device> open_device_async(std::string name, OpenOptions options = {});

struct FoundDevice {
  std::string name;  // what open_device accepts: "vulkan:0"
  DeviceInfo info;
  BackendCapabilities capabilities;
};
/// Returns all devices of all backends; a machine without drivers has the CPU.
std::vector<FoundDevice> enumerate();

struct BackendName {
  std::string name, version;
};
/// Returns all backends, built-in ones first.
std::vector<BackendName> backends();
/// Adds a backend to this program.
/// Errors: invalid_argument for a name that is taken, that has other characters than lower-case
/// letters, digits and '_', or that has a meaning here, and for a factory without functions.
void register_backend(BackendFactory factory);
/// Removes a registered backend; built-in ones stay. Devices that are open stay open. Returns false
/// if none of that name was registered.
bool unregister_backend(std::string_view name);

/// Returns the number of messages of the Vulkan validation layer so far; 0 for other devices.
std::uint64_t validation_message_count(const Device& device);

}  // namespace reprise
