// The subcommands of reprise-bench, one file each. Each adds itself with its options; it runs
// inside CLI::App::parse(), prints to the standard output and throws what goes wrong. README.md
// says what is measured and what the keys and columns mean.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace reprise::bench {

void add_db(CLI::App& app);
void add_debugger(CLI::App& app);
void add_dispatch(CLI::App& app);
void add_executable(CLI::App& app);
void add_experts(CLI::App& app);
void add_extents(CLI::App& app);
void add_gemm(CLI::App& app);
void add_host_steps(CLI::App& app);
void add_iterations(CLI::App& app);
/// `command_line` goes into the profiling database.
void add_llm(CLI::App& app, const std::vector<std::string>& command_line);
void add_op(CLI::App& app);
void add_passes(CLI::App& app);
void add_timings(CLI::App& app);
void add_warm_up(CLI::App& app);

}  // namespace reprise::bench
