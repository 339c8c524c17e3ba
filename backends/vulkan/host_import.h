// Memory of the host as device memory (VK_EXT_external_memory_host): nothing is copied.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "backends/vulkan/device.h"
#include "backends/vulkan/handle.h"

namespace reprise::vulkan {

struct HostImport {
  MemoryShare share;
  std::shared_ptr<const void> owner;
  MemoryHandle memory;
  BufferHandle buffer;  // over whole units of PhysicalDevice::import_alignment
};

/// Empty where the device cannot: no extension, a misaligned start, a limit, or the driver refuses
/// this memory, as some do for files mapped read-only. `bytes` as for Backend::import.
/// Errors: out_of_memory, naming the buffer, if the device takes no more allocations.
std::optional<HostImport> import_host_memory(const Device& device, std::string_view buffer,
                                             std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner);

}  // namespace reprise::vulkan
