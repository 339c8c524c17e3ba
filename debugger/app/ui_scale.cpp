#include "debugger/app/ui_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reprise/core/error.h"

namespace reprise::debugger {

bool is_ui_scale(float scale) { return scale >= kMinScale && scale <= kMaxScale; }

void require_ui_scale(float scale) {
  if (!is_ui_scale(scale)) {
    throw_invalid_argument(fmt::format("The scale ({}) is out of range: it must be from {} to {}.",
                                       scale, kMinScale, kMaxScale));
  }
}

float nearest_ui_scale(float scale) {
  return std::isnan(scale) ? 1 : std::clamp(scale, kMinScale, kMaxScale);
}

float Zoom::scale(float screen) const {
  constexpr float kStep = 1.1F;
  return nearest_ui_scale(nearest_ui_scale(screen) * std::pow(kStep, static_cast<float>(steps_)));
}

void Zoom::in(float screen) { steps_ += scale(screen) < kMaxScale ? 1 : 0; }

void Zoom::out(float screen) { steps_ -= scale(screen) > kMinScale ? 1 : 0; }

}  // namespace reprise::debugger
