// The backends of this program.
#pragma once
#include <string_view>
#include <vector>

#include "reprise/backend/backend_factory.h"

namespace reprise {

/// Built-in ones, then those registered, in order.
std::vector<BackendFactory> all_backends();

/// What may stand before the colon of a device's name without being a backend's.
bool is_device_type(std::string_view word);

}  // namespace reprise
