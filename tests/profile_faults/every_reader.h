// Everything that reads or rewrites a profiling database, on a file that may be anything: each
// answers, or throws a documented error.
#pragma once
#include <filesystem>
#include <string>

namespace reprise::test {

/// How many answered and how many refused.
struct Answers {
  int answered = 0, refused = 0;
};

/// All readers and the commands that print. Fails the test for other exceptions, for output that
/// controls a terminal, and if the file changed or another lies beside it.
void read_everything(const std::filesystem::path& path, Answers& answers);

/// Merges with `sound`, scrubs, prunes copies, and appends a run to one; in the folder of the file,
/// which is as before afterwards. What comes out is readable.
void rewrite_everything(const std::filesystem::path& path, const std::filesystem::path& sound,
                        Answers& answers);

}  // namespace reprise::test
