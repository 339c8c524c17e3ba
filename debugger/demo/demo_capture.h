// A capture to look at without a program of one's own: a small decoder on the CPU, recorded in two
// runs, the second of which is slower in one layer, a little off in another, and ends in a NaN.
#pragma once
#include <filesystem>

namespace reprise::debugger {

/// Writes the profiling database; takes about a second. Throws what the framework throws.
void record_demo(const std::filesystem::path& database);

}  // namespace reprise::debugger
