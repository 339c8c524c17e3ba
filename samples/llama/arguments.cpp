#include "samples/llama/arguments.h"

#include <CLI/CLI.hpp>

#include "samples/llama/parallel.h"

namespace llama {

int parse(Arguments& a, int argc, char** argv) {
  CLI::App app("Generates text with a GGUF model.", "reprise-llama");
  app.set_version_flag("--version", "reprise-llama 0.1.0");
  app.add_option("-m,--model", a.model, "GGUF file")->required();
  auto* prompts = app.add_option("-p,--prompt", a.prompts,
                                 "Text to continue; several ones are continued at once")
                      ->allow_extra_args(false);
  app.add_option("--parallel", a.parallel, "Continue every prompt so many times, all at once")
      ->capture_default_str();
  auto* perplexity =
      app.add_option("--perplexity", a.perplexity,
                     "Instead of generating, measure how well the model foretells this text file");
  app.add_option("-n,--tokens", a.count, "Tokens to generate")->capture_default_str();
  app.add_option("--device", a.device, "auto, cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  app.add_option("-t,--threads", a.threads, "Threads of the CPU; 0: one per usable core")
      ->capture_default_str();
  app.add_option("--mode", a.mode, "direct: a session per token; recorded: one graph, replayed")
      ->check(CLI::IsMember({"direct", "recorded"}))
      ->capture_default_str();
  app.add_option("--iterations-per-submit", a.iterations,
                 "Recorded mode: tokens that the device makes without the host in between")
      ->check(CLI::Range(1U, reprise::kMostIterations))
      ->capture_default_str();
  app.add_option("--precision", a.precision,
                 "exact: sums in f32; fast: activations in 8 bits where weights are quantised and "
                 "the device has such kernels")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  app.add_option("--ctx", a.context,
                 "Positions of the key-value cache, and tokens of a chunk of --perplexity; 0: the "
                 "model's context")
      ->capture_default_str();
  app.add_option("--profile", a.profile, "Profiling database to write or append to");
  app.add_option("--profile-mode", a.profile_mode,
                 "off: no device times; replay: of every replay; node: of every step of it")
      ->check(CLI::IsMember({"off", "replay", "node"}))
      ->capture_default_str();
  app.add_flag("--ids", a.ids, "Print the generated token ids");
  app.add_flag("--json", a.json, "Print one JSON object instead of text");
  app.add_flag("--lint", a.checks.lint,
               "First look for values that a recording would bake; exit status 3 if there are any");
  app.add_flag("--verify", a.checks.verify,
               "First compare recorded and replayed passes with direct ones, bit for bit; exit "
               "status 3 if they differ");
  app.add_flag("--times", a.times, "Print where the time went, to stderr");
  perplexity->excludes(prompts);
  try {
    app.parse(argc, argv);
    if (a.prompts.empty() && a.perplexity.empty()) {
      throw CLI::RequiredError("--prompt or --perplexity");
    }
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return -1;
}

void require_consistent(const Arguments& a) {
  if (a.count < 1) {
    reprise::invalid("-n is (" + std::to_string(a.count) + "), but must be at least 1.");
  }
  if (a.context < 0) {
    reprise::invalid("--ctx is (" + std::to_string(a.context) +
                     "), but must be at least 1, or 0 for the model's own.");
  }
  const auto prompts = static_cast<long long>(a.prompts.size());
  if (a.parallel < 1 || a.parallel * prompts > kMostSequences) {
    reprise::invalid("--parallel is (" + std::to_string(a.parallel) + ") with " +
                     std::to_string(prompts) + " prompts, but there are 1 to " +
                     std::to_string(kMostSequences) + " sequences.");
  }
  if (a.parallel * prompts > 1) {
    if (a.iterations > 1) {
      reprise::invalid("--iterations-per-submit is (" + std::to_string(a.iterations) +
                       "), but several sequences take 1.");
    }
    if (a.checks.lint || a.checks.verify) {
      reprise::invalid("--lint and --verify are for one sequence, but there are (" +
                       std::to_string(a.parallel * prompts) + ").");
    }
  }
}

}  // namespace llama
