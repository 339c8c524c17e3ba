// How long the bytes of a tensor stay its own: memory is shared, and what lies there at the end of
// a replay is often another tensor.
#pragma once
#include <cstdint>
#include <optional>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// The first step after the one that made a tensor that writes over its bytes.
struct Overwrite {
  std::uint32_t step = 0;
  std::optional<std::uint32_t> node;  // of that step
  std::uint32_t tensor = 0;           // that is written; itself, if it is written in place
};

/// None if nothing writes there again, or the plan does not say where the tensor lies.
std::optional<Overwrite> overwrite_of(const Capture& capture, std::uint32_t tensor);

}  // namespace reprise::debugger
