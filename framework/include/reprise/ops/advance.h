#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct AdvanceAttributes {
  StateField position{}, token{}, done{};  // carried i32 fields; unset ones are left out
  Param<std::int32_t> rows = 1;
  Param<std::int32_t> end_token = -1;
};

/// Ends an iteration on the device: position += rows, token = next, and done = 1 if next is the end
/// token (done is never cleared here). Later ops of the same session and the next replay see it.
/// The session needs a state block.
/// Shapes: next: i32, one element.
/// Errors: invalid_argument if next has a different shape or a field is not i32.
void advance(Site site, TensorRef next, AdvanceAttributes a);

}  // namespace reprise
