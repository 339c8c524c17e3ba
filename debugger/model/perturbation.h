// What timing each node costs: the median of a replay with it beside that of one without.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "debugger/model/read_scheduler.h"

namespace reprise::debugger {

/// The replays of a graph in one run and one timing mode; warm-ups and failed ones left out.
struct ModeTimes {
  std::int64_t run = 0;
  TimingMode mode = TimingMode::off;
  std::uint64_t replays = 0;
  /// Medians: on the device; of submitting and waiting.
  std::optional<double> device_ns, host_ns;
  bool operator==(const ModeTimes&) const = default;
};

struct Perturbation {
  ModeTimes plain, timed;
  bool on_device = false;  // else times of the host are compared
  double cost = 0;         // of a replay without timing: 0.03 are 3 % more
};

/// Fewer replays than this on a side measure nothing.
inline constexpr std::uint64_t kMinForPerturbation = 5;

/// The pair that says most about `run`: its own replays before those of another run, a later run
/// before an earlier one, device times before host times. Empty without a pair.
std::optional<Perturbation> perturbation_of(const std::vector<ModeTimes>& modes, std::int64_t run);

/// A capture, and how many replays it had when somebody asked.
struct PerturbationKey {
  CaptureKey capture;
  std::size_t replays = 0;
};
/// Over all runs of the graph. Throws io as the readers.
std::optional<Perturbation> read_perturbation(const std::filesystem::path& path,
                                              const PerturbationKey& key,
                                              const std::stop_token& stop);

/// "timing costs +3.1 %", "cost of timing: not measured".
std::string perturbation_text(const std::optional<Perturbation>& found);
/// Where the number comes from, or how it is had, in a few lines.
std::string perturbation_details(const std::optional<Perturbation>& found);

}  // namespace reprise::debugger
