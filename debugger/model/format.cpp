#include "debugger/model/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace reprise::debugger {
namespace {

constexpr const char* kDash = "\xE2\x80\x94";  // an em dash

/// Three significant digits, and all of them before the point.
std::string digits(double value) {
  // 9.995 has three digits before it is rounded, and three after: "10.0".
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

/// In the unit that leaves less than `step` before the point, or the last one.
std::string scaled(double value, double step, std::span<const char* const> units) {
  std::size_t u = 0;
  // What rounds up to a whole step belongs to the next unit.
  while (u + 1 < units.size() && std::round(value) >= step) {
    value /= step;
    ++u;
  }
  return (u == 0 && value == std::floor(value) ? fmt::format("{:.0f}", value) : digits(value)) +
         " " + units[u];
}

}  // namespace

std::string duration_text(std::uint64_t ns) {
  constexpr std::array kUnits{"ns", "\xC2\xB5s", "ms", "s"};
  return scaled(static_cast<double>(ns), 1000, kUnits);
}

std::string duration_text(std::optional<std::uint64_t> ns) {
  return ns ? duration_text(*ns) : kDash;
}

std::uint64_t whole_ns(double ns) {
  constexpr double kMost = 18'000'000'000'000'000'000.0;  // below 2^64
  return ns > 0 ? static_cast<std::uint64_t>(std::min(ns, kMost)) : 0;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return scaled(static_cast<double>(bytes), 1024, kUnits);
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

std::string percent_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.{}f} %", 100 * share, share < 0.09995 ? 2 : 1)
                              : kDash;
}

std::string rate_text(double per_second, const char* unit) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P", "E"};
  return std::isfinite(per_second) && per_second >= 0 ? scaled(per_second, 1000, kPrefixes) + unit
                                                      : kDash;
}

}  // namespace reprise::debugger
