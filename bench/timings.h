// Do the times of single nodes add up to the time of the replay that is not timed inside?
#pragma once
#include <string>

namespace reprise::bench {

struct TimingsArguments {
  long long nodes = 12, size = 256, reps = 30;
  std::string device = "vulkan";
};

/// Prints one JSON object; README.md says what its keys mean.
void print_timings(const TimingsArguments& arguments);

}  // namespace reprise::bench
