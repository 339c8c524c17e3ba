// The Vulkan backend as the rest of the program sees it: no Vulkan type appears here.
#pragma once
#include <memory>
#include <vector>

#include "reprise/backend/backend_factory.h"

namespace reprise::vulkan {

/// The usable devices (Vulkan 1.3, a compute queue, timeline semaphores, synchronization2), in the
/// order open() counts them. Empty where there is no driver.
std::vector<DeviceDescription> enumerate();

/// Throws invalid_argument if there is no such device, unsupported if validation is wanted but not
/// installed.
std::shared_ptr<Backend> open(std::size_t index, const OpenOptions& options);

/// Warnings and errors of the validation layer so far; 0 without validation or for other backends.
std::uint64_t validation_message_count(const Backend& backend);

}  // namespace reprise::vulkan
