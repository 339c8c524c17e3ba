#include <array>

#include "reprise/profile.h"

namespace reprise {
namespace {

constexpr std::array<std::string_view, 4> kNames{"off", "replay", "node", "node serialised"};

}  // namespace

std::string_view name_of(TimingMode mode) { return kNames[static_cast<std::size_t>(mode)]; }

std::optional<TimingMode> timing_mode_of(std::string_view name) {
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    if (name == name_of(mode)) {
      return mode;
    }
  }
  return std::nullopt;
}

}  // namespace reprise
