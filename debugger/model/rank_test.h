// Mann and Whitney's rank test: whether two samples come from the same distribution.
// Source: Mann & Whitney 1947, with the normal approximation and its corrections for ties and
// continuity.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace reprise::debugger {

/// Fewer values than this on a side say too little for the approximation.
inline constexpr std::size_t kMinForRankTest = 20;

/// How probable a difference at least this great is if there is none, 0 to 1; two-sided. Empty if a
/// side has too few values.
std::optional<double> rank_test(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace reprise::debugger
