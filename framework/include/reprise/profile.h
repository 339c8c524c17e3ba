// Data that a program gives to the profiling database, and the health of its writer.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

/// How much of a replay is timed. Every mode has an encoding of its own, so none changes what the
/// others run.
enum class TimingMode : std::uint8_t {
  off,     // no device timestamps at all
  replay,  // the device time of the whole body
  node,    // every step: one timestamp after each; node_serialised where dispatches overlap
  node_serialised,  // as node, with a barrier before every step: for devices that overlap
                    // dispatches
};
/// Returns "off", "replay", "node", "node serialised".
std::string_view name_of(TimingMode mode);
/// Returns the mode that a user names: off, replay or node. Empty for any other name.
std::optional<TimingMode> timing_mode_of(std::string_view name);

/// Facts to store about this run. Nothing is taken from the process by itself.
struct RunInfo {
  std::string app{};
  std::vector<std::string> arguments{};
  std::string label{}, notes{};
  std::string model_path{}, model_hash{}, quantisation{};
  std::vector<std::pair<std::string, std::string>> environment{};  // names and values
  std::uint32_t rank = 0, world_size = 1;  // for a program of several processes
};

/// Counts of the writer so far. Everything sent is written or dropped sooner or later.
struct ProfileHealth {
  std::uint64_t replays_committed = 0;
  std::uint64_t replays_dropped = 0, timings_dropped = 0, records_dropped = 0;
  bool stopped = false;  // an error of the file ended the writing
};

/// Limits of the writer. docs/profiling-database.md says what is kept and what is dropped.
struct ProfileLimits {
  std::uint64_t step_timing_bytes = std::uint64_t{256} << 20U;  // raw step times kept of this run
  std::uint64_t ring_bytes = std::uint64_t{16} << 20U;          // replays waiting to be written
  std::uint64_t snapshot_bytes = std::uint64_t{1} << 30U;       // contents of tensors of this run
  /// Everything else that waits to be written; the writer may hold as much again. The last quarter
  /// is for recordings and buffers. Data that depends on these is refused without them.
  std::uint64_t queue_bytes = std::uint64_t{32} << 20U;
};

}  // namespace reprise
