// Times and counts of a session.
#pragma once
#include <cstdint>
#include <optional>

namespace reprise {

/// Units: durations in nanoseconds.
struct FinishReport {
  std::uint64_t record_ns = 0;  // op calls, from begin to finish; direct sessions encode here too
  std::uint64_t plan_ns = 0;
  std::uint64_t encode_ns = 0;
  std::uint64_t submit_ns = 0;
  std::uint64_t wait_ns = 0;       // for host steps too
  std::uint64_t host_step_ns = 0;  // in host step functions; direct sessions: part of record_ns
  std::optional<std::uint64_t> device_ns;  // empty if the device cannot time itself
  std::uint32_t ops = 0, steps = 0, barriers = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t live_peak_bytes = 0;  // recorded sessions only
  /// Recorded sessions only: calls that fusions made parts of others, and results that passes moved
  /// into the memory of an operand.
  std::uint32_t fused_nodes = 0, moved_results = 0;
  std::uint32_t arena_growths = 0;  // direct sessions only: chunks allocated between ops
  std::uint32_t submits = 0;        // parts handed to the device; host steps cut a session
  bool replays = true;  // recorded sessions; false: unsupported, every launch encodes again
};

/// The cost of making kernels ready.
struct WarmUp {
  std::uint32_t kernels = 0;  // different ones; 0 on devices that run host functions
  std::uint64_t ns = 0;
};

}  // namespace reprise
