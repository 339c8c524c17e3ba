#include "debugger/model/node_values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "debugger/model/critical_path.h"
#include "debugger/model/format.h"
#include "debugger/model/node_details.h"

namespace reprise::debugger {
namespace {

constexpr double kMinError = 1e-8;  // what exact passes show, and less
constexpr const char* kTime = "No node was timed: set_timing(TimingMode::node)";

std::string error_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.2g}", value) : "not finite";
}
std::string bytes_of_number(double value) { return bytes_text(whole_ns(value)); }
std::string time_of_number(double value) { return duration_text(whole_ns(value)); }

NodeValues errors_of(const Capture& capture, const NodeErrors* errors) {
  NodeValues found;
  found.values.resize(capture.nodes.size());
  found.logarithmic = true;
  found.text = error_text;
  found.min = "\xE2\x89\xA4 1e-08";
  found.max = "\xE2\x89\xA5 1";
  if (errors == nullptr || errors->rows.empty()) {
    found.missing = errors == nullptr
                        ? "Reading the comparisons"
                        : "No node was compared: graph.verify(), or compare_numerics()";
    return found;
  }
  for (const NodeError& row : errors->rows) {
    if (row.node && *row.node < found.values.size()) {
      const double error = row.max_rel.value_or(row.differs ? HUGE_VAL : 0);
      std::optional<double>& value = found.values[*row.node];
      value = std::max(value.value_or(0), error);
    }
  }
  found.note = "greatest relative error";
  return found;
}

NodeValues memory_of(const Capture& capture) {
  NodeValues found;
  found.adds_up = true;
  found.text = bytes_of_number;
  found.note = "bytes of results";
  for (const Capture::Node& node : capture.nodes) {
    double bytes = 0;
    for (std::uint32_t o = node.operands.first; o < node.operands.first + node.operands.count;
         ++o) {
      const Capture::Operand& operand = capture.operands[o];
      bytes += operand.writes ? static_cast<double>(capture.tensors[operand.tensor].bytes) : 0;
    }
    found.values.emplace_back(bytes);
  }
  return found;
}

NodeValues variation_of(const Capture& capture, const CaptureStatistics& statistics) {
  NodeValues found;
  found.values.resize(capture.nodes.size());
  found.text = percent_text;
  found.note = "standard deviation to mean, of the most varying node";
  found.missing = kTime;
  for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
    const NodeTiming* const timing = timing_of(statistics, n);
    const double variation =
        timing != nullptr && timing->mean_ns > 0 ? timing->stddev_ns / timing->mean_ns : -1;
    if (std::isfinite(variation) && variation >= 0) {
      found.values[n] = variation;
      found.missing.clear();
    }
  }
  return found;
}

NodeValues critical_of(const Capture& capture, const CaptureStatistics& statistics) {
  NodeValues found;
  found.values.resize(capture.nodes.size());
  found.adds_up = true;
  found.text = time_of_number;
  const CriticalPath path = critical_path(capture, statistics);
  if (path.nodes.empty()) {
    found.missing = kTime;
    return found;
  }
  for (const std::uint32_t node : path.nodes) {
    const NodeTiming* const timing = timing_of(statistics, node);
    found.values[node] = timing == nullptr ? 0 : static_cast<double>(timing->p50_ns);
  }
  found.note = count_text(path.nodes.size()) + " nodes, " + duration_text(path.length_ns) + " of " +
               duration_text(path.all_ns);
  return found;
}

}  // namespace

std::optional<double> NodeValues::of(std::uint32_t first, std::uint32_t count) const {
  std::optional<double> found;
  for (std::uint32_t n = first; n < first + count && n < values.size(); ++n) {
    if (values[n]) {
      found = !found ? *values[n] : adds_up ? *found + *values[n] : std::max(*found, *values[n]);
    }
  }
  return found;
}

double NodeValues::heat_of(double value, double greatest) const {
  if (logarithmic) {
    const double decades = std::log10(std::max(value, kMinError) / kMinError);
    return std::clamp(decades / -std::log10(kMinError), 0.0, 1.0);
  }
  return greatest > 0 ? std::clamp(value / greatest, 0.0, 1.0) : 0;
}

NodeValues node_values(ColourBy by, const Capture& capture, const CaptureStatistics& statistics,
                       const NodeErrors* errors) {
  switch (by) {
    case ColourBy::error:
      return errors_of(capture, errors);
    case ColourBy::memory:
      return memory_of(capture);
    case ColourBy::variance:
      return variation_of(capture, statistics);
    case ColourBy::critical_path:
      return critical_of(capture, statistics);
    case ColourBy::time:
    case ColourBy::op:
      break;
  }
  return {};
}

const char* name_of(ColourBy by) {
  constexpr std::array<const char*, kColourings> kNames{"time",   "op",       "error",
                                                        "memory", "variance", "critical path"};
  return kNames[static_cast<std::size_t>(by)];
}

ColourBy after(ColourBy by) {
  return static_cast<ColourBy>((static_cast<std::size_t>(by) + 1) % kColourings);
}

}  // namespace reprise::debugger
