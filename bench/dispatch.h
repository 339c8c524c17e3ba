// What does recording and replaying an op cost the host, against plain Vulkan?
#pragma once
#include <string>

namespace reprise::bench {

struct DispatchArguments {
  long long nodes = 1000;
  long long reps = 20;
  std::string device = "vulkan";
};

/// Prints one JSON object; README.md says what its keys mean. Throws if any result is wrong.
void print_dispatch(const DispatchArguments& arguments);

}  // namespace reprise::bench
