// The one place that turns a VkResult into an Error. Every result of a Vulkan call passes here.
#pragma once
#include <string_view>

#include <vulkan/vulkan.h>

#include "reprise/core/error.h"

namespace reprise::vulkan {

std::string_view name_of(VkResult result);

/// "vkCreateDevice failed with VK_ERROR_OUT_OF_HOST_MEMORY (-1)."
Error error_of(VkResult result, std::string_view call);

/// Throws unless the result is VK_SUCCESS. Not for calls that may find the device lost once it has
/// work: those go through Device::check.
void check(VkResult result, std::string_view call);

}  // namespace reprise::vulkan
