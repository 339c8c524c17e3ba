// How much of a replay is timed. Every mode is its own encoding, so none changes what another runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

enum class TimingMode : std::uint8_t {
  off,              // no device timestamps at all
  replay,           // the device time of the whole body
  node,             // every step: one timestamp after each
  node_serialised,  // as node, with a barrier before every step: for devices that overlap
                    // dispatches
};
/// "off", "replay", "node", "node serialised".
std::string_view name_of(TimingMode mode);
/// Of a name a user gives: off, replay or node. Empty for any other.
std::optional<TimingMode> timing_mode_of(std::string_view name);

}  // namespace reprise
