// What a program does with a profile: it records a small graph, replays it, and runs it directly.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/profile/profile_sink.h"

namespace reprise::test {

struct PassResult {
  std::vector<float> values;      // of every run of the graph, in order
  std::uint64_t replays = 0;      // the database has: of the graph, and the direct session
  ProfileHealth health;           // after everything was flushed; of nothing without a profile
  std::vector<std::string> told;  // to the log of the profile, to its end
};

/// On the CPU; without a profile if the path is empty. `between` is called when the profile is
/// open. Throws what opening the profile throws.
PassResult run_pass(
    const std::filesystem::path& profile, const std::function<void()>& between = [] {});

/// Fails the test unless the results are the bits that a pass without a profile has.
void expect_right(const PassResult& result);

}  // namespace reprise::test
