// Numbers as people read them: three significant digits with their unit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace reprise::debugger {

/// "812 ns", "12.3 µs", "1.05 ms", "2.31 s".
std::string duration_text(std::uint64_t ns);
/// An em dash without one.
std::string duration_text(std::optional<std::uint64_t> ns);
/// Whole nanoseconds of a number that may be anything: 0 of a negative one or NaN.
std::uint64_t whole_ns(double ns);
/// "512 B", "1.50 KiB", "2.00 GiB".
std::string bytes_text(std::uint64_t bytes);
/// "1,024".
std::string count_text(std::uint64_t count);
/// A share of 1: "12.3 %".
std::string percent_text(double share);
/// Units per second with a prefix of thousands: rate_text(2.5e9, "FLOP/s") is "2.50 GFLOP/s".
std::string rate_text(double per_second, const char* unit);

}  // namespace reprise::debugger
