// What the transfer layer is told and asked. It gives every device a second queue, of a family of
// its own that only copies, and runs what is submitted to both on the driver's one queue, in an
// order that two queues may take: a submission starts when those before it on its queue have
// started and what it waits for is complete. It lives in the process that is tested.
#pragma once
#include <cstdint>

#define REPRISE_TRANSFER_LAYER_API __attribute__((visibility("default")))

namespace reprise::transfer_layer {

enum class Late : std::uint8_t { nothing, transfers, compute };

/// From now on the submissions to this queue start as late as they may: when one on the other queue
/// waits for them, when the host waits for them, or asks for them again and again. So whoever
/// should wait for them and does not comes first. In the beginning: transfers.
REPRISE_TRANSFER_LAYER_API void run_late(Late which);

/// Submissions to the second queue so far, of all devices.
REPRISE_TRANSFER_LAYER_API std::uint64_t transfers();

}  // namespace reprise::transfer_layer
