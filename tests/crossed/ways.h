// The ways of running a program with the library. Each returns everything the program left.
#pragma once
#include "reprise/reprise.h"
#include "tests/crossed/outcome.h"

namespace reprise::crossed {

/// All of them keep their files in `folder`.
/// Rounds by sessions and graphs, as the program says.
Outcome run_sessions(const Program& program, const Device& device, const std::string& folder);
/// The same rounds by direct sessions alone, one after another.
Outcome run_directly(const Program& program, const Device& device, const std::string& folder);
/// Rounds by an executable graph and its forks.
Outcome run_executable(const Program& program, const Device& device, const std::string& folder);

}  // namespace reprise::crossed
