#include <cstdio>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/print_json.h"
#include "debugger/cli/terminal.h"
#include "framework/profile/profile_rewrite.h"

namespace reprise::cli {

void merge(const MergeCommand& command) {
  const std::vector<std::filesystem::path> paths(command.paths.begin(), command.paths.end());
  const Interrupt interrupt;
  const MergeResult merged = merge_profiles(paths, command.out, interrupt.token());
  if (command.json) {
    return print_json(nlohmann::ordered_json{{"runs", merged.runs},
                                             {"graphs", merged.graphs},
                                             {"replays", merged.replays},
                                             {"shared_graphs", merged.shared_graphs},
                                             {"known_runs", merged.known_runs},
                                             {"missing_tensors", merged.missing_tensors}});
  }
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu runs, %llu graphs (%llu of them shared), %llu replays\n", count(merged.runs),
              count(merged.graphs), count(merged.shared_graphs), count(merged.replays));
  if (merged.known_runs > 0) {
    std::printf("%llu runs were in an earlier file already\n", count(merged.known_runs));
  }
  if (merged.missing_tensors > 0) {
    std::printf("the contents of %llu snapshots lie beside none of the files\n",
                count(merged.missing_tensors));
  }
}

}  // namespace reprise::cli
