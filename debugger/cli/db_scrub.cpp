#include <cstdio>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/terminal.h"
#include "debugger/model/printable.h"
#include "framework/profile/profile_rewrite.h"

namespace reprise::cli {

void scrub(const ScrubCommand& command) {
  const Interrupt interrupt;
  scrub_profile(command.path, command.out, interrupt.token());
  std::printf("%s: labels, names of scopes and tensors, and times are as they were\n",
              debugger::printable(command.out).c_str());
}

}  // namespace reprise::cli
