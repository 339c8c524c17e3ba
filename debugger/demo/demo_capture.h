// A capture to look at without a program of one's own: a small decoder on the CPU, recorded before
// and after a change that makes it slower in one layer and one kernel, a little off in another
// layer, and end in a NaN.
#pragma once
#include <filesystem>

namespace reprise::debugger {

struct DemoCapture {
  std::filesystem::path before, after;  // profiling databases
  std::filesystem::path sources;        // the folder below which the sources of the program lay
};

/// Writes both into a folder that has neither; takes about a second. Throws what the framework
/// throws.
DemoCapture record_demo(const std::filesystem::path& folder);

}  // namespace reprise::debugger
