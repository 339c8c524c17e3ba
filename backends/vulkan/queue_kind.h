// The queues of a device: one that runs everything, and where there is one, another that only
// copies, beside it.
#pragma once
#include <cstdint>

namespace reprise::vulkan {

enum class QueueKind : std::uint8_t { compute, transfer };

constexpr QueueKind other_than(QueueKind queue) {
  return queue == QueueKind::compute ? QueueKind::transfer : QueueKind::compute;
}

}  // namespace reprise::vulkan
