// Looks for what is wrong with a profiling database: pages that SQLite finds damaged, rows that
// contradict each other, what its writers had to drop, and runs that did not end.
#pragma once
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace reprise {

struct ProfileFinding {
  std::string about;    // integrity, references, counts, places, timings, drops, runs
  std::string message;  // a sentence without its full stop; names in it are as stored
};

/// Of one moment of the file; a hundred of a kind at most. Throws as the readers where the file
/// cannot be read at all; Cancelled once `stop` asks.
std::vector<ProfileFinding> check_profile(const std::filesystem::path& path,
                                          const std::stop_token& stop = {});

}  // namespace reprise
