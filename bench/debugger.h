// `reprise-bench debugger`: what a capture of any size costs the debugger.
#pragma once

namespace reprise::bench {

struct DebuggerArguments {
  long long nodes = 5'000, replays = 64, reps = 5;
};
void print_debugger(const DebuggerArguments& arguments);

}  // namespace reprise::bench
