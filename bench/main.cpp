// reprise-bench: one subcommand per question.
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/debugger.h"
#include "bench/dispatch.h"
#include "bench/llm.h"
#include "bench/op_rates.h"
#include "bench/timings.h"

int main(int argc, char** argv) try {
  CLI::App app("Measures what Reprise adds to the work itself.", "reprise-bench");
  app.set_version_flag("--version", "reprise-bench 0.1.0");
  app.require_subcommand(1);

  reprise::bench::DispatchArguments arguments;
  CLI::App* dispatch = app.add_subcommand(
      "dispatch", "Recording and replaying a chain of tiny ops, against plain Vulkan; prints JSON");
  dispatch->add_option("--nodes", arguments.nodes, "Ops of the chain")->capture_default_str();
  dispatch->add_option("--reps", arguments.reps, "Measured repetitions")->capture_default_str();
  dispatch->add_option("--device", arguments.device, "vulkan or vulkan:<number>")
      ->capture_default_str();

  reprise::bench::TimingsArguments of_timings;
  CLI::App* timings = app.add_subcommand(
      "timings", "Node times of a chain of matrix products against the whole replay; prints JSON");
  timings->add_option("--nodes", of_timings.nodes, "Products of the chain")->capture_default_str();
  timings->add_option("--size", of_timings.size, "Rows of the matrices")->capture_default_str();
  timings->add_option("--reps", of_timings.reps, "Replays in each mode")->capture_default_str();
  timings->add_option("--device", of_timings.device, "cpu, vulkan or vulkan:<number>")
      ->capture_default_str();

  reprise::bench::DebuggerArguments of_debugger;
  CLI::App* debugger =
      app.add_subcommand("debugger", "Opening a synthetic capture in the debugger; prints JSON");
  debugger->add_option("--nodes", of_debugger.nodes, "Nodes of the graph")->capture_default_str();
  debugger->add_option("--replays", of_debugger.replays, "Replays, all timed per node")
      ->capture_default_str();
  debugger->add_option("--reps", of_debugger.reps, "Measured repetitions")->capture_default_str();
  reprise::bench::LlmArguments of_llm;
  CLI::App* llm = app.add_subcommand(
      "llm", "Tokens per second of the llama sample, with the flags and rows of llama-bench");
  const auto list = [&](const char* names, auto& values, const char* help) {
    return llm->add_option(names, values, help)->delimiter(',')->capture_default_str();
  };
  list("-m,--model", of_llm.models, "GGUF files")->required();
  list("-p,--n-prompt", of_llm.prompt, "Tokens of the prompt; 0: no such test");
  list("-n,--n-gen", of_llm.generate, "Tokens to generate, one by one; 0: no such test");
  llm->add_option("--pg", of_llm.prompt_generate,
                  "PP,TG: a prompt and what is generated after it, measured together; also -pg")
      ->take_all();
  list("-d,--n-depth", of_llm.depth, "Positions in the cache before a test begins");
  list("-b,--batch-size", of_llm.batch, "Most tokens of a prompt in one launch");
  list("-t,--threads", of_llm.threads, "Threads of the CPU backend");
  list("--device", of_llm.devices, "auto, cpu, vulkan or vulkan:<number>");
  list("--mode", of_llm.modes, "direct: a session per launch; recorded: graphs, replayed")
      ->check(CLI::IsMember({"direct", "recorded"}));
  list("--precision", of_llm.precisions, "exact or fast")->check(CLI::IsMember({"exact", "fast"}));
  llm->add_option("-r,--repetitions", of_llm.reps, "Measured repetitions")->capture_default_str();
  llm->add_option("-o,--output", of_llm.format, "Format of the rows")
      ->check(CLI::IsMember({"md", "json", "csv", "sql"}))
      ->capture_default_str();
  llm->add_option("--profile", of_llm.profile,
                  "Profiling database whose table benchmarks gets the rows too");

  reprise::bench::OpRatesArguments of_ops;
  CLI::App* ops = app.add_subcommand(
      "op", "Bytes and operations per second of each op of the llama sample, against ceilings");
  ops->add_option("-m,--model", of_ops.model, "GGUF file")->required();
  ops->add_option("-p,--n-prompt", of_ops.prompt,
                  "Tokens of the prompt; decoding is measured at its last")
      ->capture_default_str();
  ops->add_option("-t,--threads", of_ops.threads, "Threads of the CPU backend")
      ->capture_default_str();
  ops->add_option("-r,--repetitions", of_ops.reps, "Measured replays of each graph")
      ->capture_default_str();
  ops->add_option("--device", of_ops.device, "auto, cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  ops->add_option("--precision", of_ops.precision, "exact or fast")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  ops->add_option("--filter", of_ops.filter, "Only ops whose text has this in it: matmul, q8_0");
  ops->add_flag("--json", of_ops.json, "Print one JSON object");

  std::vector<std::string> words(argv + 1, argv + argc);
  of_llm.command_line = words;
  std::ranges::replace(words, "-pg", "--pg");  // CLI11 has short options of one letter
  std::ranges::reverse(words);                 // the order its parse() takes

  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (dispatch->parsed()) {
    reprise::bench::print_dispatch(arguments);
  } else if (debugger->parsed()) {
    reprise::bench::print_debugger(of_debugger);
  } else if (llm->parsed()) {
    reprise::bench::print_llm(of_llm);
  } else if (ops->parsed()) {
    reprise::bench::print_op_rates(of_ops);
  } else {
    reprise::bench::print_timings(of_timings);
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
