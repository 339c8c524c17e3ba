// The devices that programs run on, each opened once.
#pragma once
#include "reprise/reprise.h"
#include "tests/crossed/program.h"

namespace reprise::crossed {

/// Vulkan devices are opened with or without the validation layer, which makes them many times
/// slower. Closed after the last test.
Device device_for(const Setup& setup, bool validated);

}  // namespace reprise::crossed
