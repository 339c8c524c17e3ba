// The CPU backend: the same graphs and plans as on a GPU, every op through its own host function.
#pragma once
#include <memory>
#include <vector>

#include "reprise/backend/backend_factory.h"

namespace reprise::cpu {

/// One device: this machine's processor.
std::vector<DeviceDescription> enumerate();
std::shared_ptr<Backend> open(std::size_t index, const OpenOptions& options);

/// Whether it has a kernel for calls of the op, not only the reference.
[[gnu::visibility("default")]] bool has_kernel(std::string_view op);

}  // namespace reprise::cpu
