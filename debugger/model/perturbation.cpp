#include "debugger/model/perturbation.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "debugger/model/format.h"
#include "debugger/model/sql_values.h"

namespace reprise::debugger {
namespace {

bool times_nodes(TimingMode mode) {
  return mode == TimingMode::node || mode == TimingMode::node_serialised;
}

std::optional<double> positive(const SqlValue& value) {
  const auto* const real = std::get_if<double>(&value);
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const double number = real != nullptr    ? *real
                        : whole != nullptr ? static_cast<double>(*whole)
                                           : 0;
  return std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

std::string side_text(const ModeTimes& side, bool on_device) {
  return duration_text(whole_ns((on_device ? side.device_ns : side.host_ns).value_or(0))) + " in " +
         count_text(side.replays) + " replays of run " + std::to_string(side.run) + ", timing " +
         std::string(name_of(side.mode));
}

}  // namespace

std::optional<Perturbation> perturbation_of(const std::vector<ModeTimes>& modes, std::int64_t run) {
  std::optional<Perturbation> best;
  const auto rank = [&](const Perturbation& p) {
    const int own = (p.plain.run == run ? 1 : 0) + (p.timed.run == run ? 1 : 0);
    return std::tuple(own, p.plain.run == p.timed.run, p.on_device,
                      std::min(p.plain.run, p.timed.run), p.plain.replays + p.timed.replays);
  };
  for (const ModeTimes& timed : modes) {
    for (const ModeTimes& plain : modes) {
      if (!times_nodes(timed.mode) || times_nodes(plain.mode) ||
          std::min(timed.replays, plain.replays) < kMinForPerturbation) {
        continue;
      }
      Perturbation pair{plain, timed, plain.device_ns && timed.device_ns, 0};
      const auto& before = pair.on_device ? plain.device_ns : plain.host_ns;
      const auto& with = pair.on_device ? timed.device_ns : timed.host_ns;
      if (!before || !with) {
        continue;
      }
      pair.cost = *with / *before - 1;
      if (!best || rank(*best) < rank(pair)) {
        best = pair;
      }
    }
  }
  return best;
}

std::optional<Perturbation> read_perturbation(const std::filesystem::path& path,
                                              const PerturbationKey& key,
                                              const std::stop_token& stop) {
  const CaptureId id = key.capture->summary.id;
  const SqlResult result =
      run_sql(path,
              "SELECT c.run_id, r.timing_mode, count(*), median(r.device_ns), median(r.submit_ns + "
              "r.wait_ns) FROM replays r JOIN recordings c ON c.id = r.recording_id WHERE "
              "c.graph_id = " +
                  std::to_string(id.graph) +
                  " AND r.warm_up = 0 AND r.status = 0 GROUP BY 1, 2 ORDER BY 1 DESC",
              {.rows = 400}, stop);
  std::vector<ModeTimes> modes;
  for (const auto& row : result.rows) {
    const auto whole = [&](std::size_t column) { return whole_of(row[column]).value_or(-1); };
    if (whole(1) >= 0 && whole(1) <= static_cast<int>(TimingMode::node_serialised)) {
      modes.push_back({whole(0), static_cast<TimingMode>(whole(1)),
                       static_cast<std::uint64_t>(std::max<std::int64_t>(whole(2), 0)),
                       positive(row[3]), positive(row[4])});
    }
  }
  return perturbation_of(modes, id.run);
}

std::string perturbation_text(const std::optional<Perturbation>& found) {
  if (!found) {
    return "cost of timing: not measured";
  }
  return std::string("timing costs ") + (found->cost < 0 ? "-" : "+") +
         percent_text(std::abs(found->cost));
}

std::string perturbation_details(const std::optional<Perturbation>& found) {
  if (!found) {
    return "What timing every node costs is known when the file has replays of this graph with and "
           "without it, five of each at least, of one run or of two:\n"
           "graph.set_timing(TimingMode::replay) for some launches.";
  }
  return std::string("The median of a replay, ") +
         (found->on_device ? "on the device" : "submitting and waiting") + ":\n" +
         side_text(found->timed, found->on_device) + "\n" +
         side_text(found->plain, found->on_device);
}

}  // namespace reprise::debugger
