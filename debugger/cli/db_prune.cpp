#include <cstdio>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/print_json.h"
#include "debugger/cli/terminal.h"
#include "framework/profile/profile_rewrite.h"

namespace reprise::cli {

void prune(const PruneCommand& command) {
  PruneOptions options;
  options.vacuum = command.vacuum;
  if (command.keep_runs) {
    options.keep_runs = positive("--keep-runs", *command.keep_runs);
  }
  if (command.keep_replays) {
    options.keep_replays = positive("--keep-replays", *command.keep_replays);
  }
  const Interrupt interrupt;
  const PruneResult removed = prune_profile(command.path, options, interrupt.token());
  if (command.json) {
    return print_json(nlohmann::ordered_json{{"removed_runs", removed.runs},
                                             {"removed_graphs", removed.graphs},
                                             {"removed_replays", removed.replays},
                                             {"bytes_before", removed.bytes_before},
                                             {"bytes_after", removed.bytes_after}});
  }
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("removed %llu runs, %llu graphs, %llu replays; %llu bytes, were %llu\n",
              count(removed.runs), count(removed.graphs), count(removed.replays),
              count(removed.bytes_after), count(removed.bytes_before));
}

}  // namespace reprise::cli
