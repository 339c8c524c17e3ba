#include "samples/llama/arguments.h"

#include <sstream>

#include <CLI/CLI.hpp>

#include "framework/programs/command_line.h"
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
      ->check(CLI::Range(1U, reprise::kMaxIterations))
      ->capture_default_str();
  app.add_option("--precision", a.precision,
                 "exact: sums in f32; fast: activations in 8 bits where weights are quantised and "
                 "the device has such kernels")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  app.add_option("--cache", a.cache,
                 "How keys and values are kept: f16 takes half the memory of f32, q8_0 a quarter")
      ->check(CLI::IsMember({"f32", "f16", "q8_0"}))
      ->capture_default_str();
  app.add_option("--ctx", a.context,
                 "Positions of the key-value cache, and tokens of a chunk of --perplexity; 0: the "
                 "model's context")
      ->capture_default_str();
  app.add_option("--expert-budget", a.expert_budget,
                 "Bytes of device memory for experts of a model that has some; the others move "
                 "there when a router asks for them; 0: all are there")
      ->capture_default_str();
  bool greedy = false;
  auto* flag = app.add_flag("--greedy", greedy, "Choose the most likely token; without --temp too");
  Sampling& how = a.sampling;
  app.add_option("--temp", how.temperature, "Draw tokens; 1: as the model says, 0: the most likely")
      ->excludes(flag)
      ->capture_default_str();
  app.add_option("--top-k", how.top_k, "Draw from so many of the likeliest; 0: from all")
      ->capture_default_str();
  app.add_option("--top-p", how.top_p,
                 "Draw from the likeliest whose probabilities make up so much")
      ->capture_default_str();
  app.add_option("--min-p", how.min_p,
                 "Draw from those with so much of the probability of the likeliest")
      ->capture_default_str();
  app.add_option("--repeat-penalty", how.repeat_penalty,
                 "Make the last 64 tokens less likely; 1: do not")
      ->excludes(flag)
      ->capture_default_str();
  app.add_option("--seed", how.seed, "Of what is drawn: the same seed gives the same text")
      ->capture_default_str();
  app.add_option("--profile", a.profile, "Profiling database to write or append to");
  app.add_option("--profile-mode", a.profile_mode,
                 "off: no device times; replay: of every replay; node: of every step of it")
      ->check(CLI::IsMember({"off", "replay", "node"}))
      ->capture_default_str();
  app.add_flag("--ids", a.ids, "Print the generated token ids; --json has them anyway");
  app.add_flag("--json", a.json, "Print one JSON object instead of text");
  app.add_flag("--lint", a.checks.lint,
               "First look for values that a recording would bake; exit status 3 if there are any");
  app.add_flag("--verify", a.checks.verify,
               "First compare recorded and replayed passes with direct ones, bit for bit; exit "
               "status 3 if they differ");
  app.add_flag("--times", a.times, "Print where the time went, to stderr");
  perplexity->excludes(prompts);
  reprise::programs::refuse_large_numbers(app);
  try {
    app.parse(argc, argv);
    if (a.prompts.empty() && a.perplexity.empty()) {
      throw CLI::RequiredError("--prompt or --perplexity");
    }
  } catch (const CLI::ParseError& e) {
    return reprise::programs::end_of_parsing(app, e);
  }
  return -1;
}

namespace {

void require_sampling(const Sampling& how) {
  const auto require = [](const char* option, float value, float min, float max) {
    if (!(value >= min && value <= max)) {
      std::ostringstream text;
      text << option << " is (" << value << "), but must be from " << min << " to " << max << ".";
      reprise::throw_invalid_argument(text.str());
    }
  };
  constexpr float kMost = 1e6F, kMinPenalty = 1e-6F;
  require("--temp", how.temperature, 0, kMost);
  require("--top-p", how.top_p, 0, 1);
  require("--min-p", how.min_p, 0, 1);
  require("--repeat-penalty", how.repeat_penalty, kMinPenalty, kMost);
  for (const auto& [option, value] :
       {std::pair{"--top-k", how.top_k}, std::pair{"--seed", how.seed}}) {
    if (value < 0) {
      reprise::throw_invalid_argument(std::string(option) + " is (" + std::to_string(value) +
                                      "), but must be at least 0.");
    }
  }
  const std::pair<bool, const char*> of_draws[] = {{how.top_k != 0, "--top-k"},
                                                   {how.top_p != 1, "--top-p"},
                                                   {how.min_p != 0, "--min-p"},
                                                   {how.seed != 0, "--seed"}};
  for (const auto& [given, option] : of_draws) {
    if (given && how.temperature == 0) {
      reprise::throw_invalid_argument(std::string(option) +
                                      " is for tokens that are drawn, but --temp is (0), which "
                                      "takes the most likely one; give a --temp above 0.");
    }
  }
}

/// What an option refuses beside it, and why: the first of them that is given.
void require_apart(const std::string& why,
                   std::initializer_list<std::pair<bool, const char*>> others) {
  for (const auto& [given, what] : others) {
    if (given) {
      reprise::throw_invalid_argument(why + "; it does not go with (" + what + ").");
    }
  }
}

}  // namespace

void require_consistent(const Arguments& a) {
  require_sampling(a.sampling);
  if (a.count < 1) {
    reprise::throw_invalid_argument("-n is (" + std::to_string(a.count) +
                                    "), but must be at least 1.");
  }
  if (a.context < 0) {
    reprise::throw_invalid_argument("--ctx is (" + std::to_string(a.context) +
                                    "), but must be at least 1, or 0 for the model's own.");
  }
  const auto prompts = static_cast<long long>(a.prompts.size());
  if (a.parallel < 1 || a.parallel > kMaxSequences || a.parallel * prompts > kMaxSequences) {
    reprise::throw_invalid_argument("--parallel is (" + std::to_string(a.parallel) + ") with " +
                                    std::to_string(prompts) + " prompts, but there are 1 to " +
                                    std::to_string(kMaxSequences) + " sequences.");
  }
  const bool checks = a.checks.lint || a.checks.verify;
  if (a.expert_budget > 0) {
    require_apart(
        "--expert-budget is for text of one sequence in recorded mode, a token at a time, without "
        "checks",
        {{a.parallel * prompts > 1, "several sequences"},
         {!a.perplexity.empty(), "--perplexity"},
         {a.mode == "direct", "--mode direct"},
         {a.iterations > 1, "--iterations-per-submit"},
         {checks, "--lint and --verify"}});
  }
  if (!a.perplexity.empty()) {
    require_apart("--perplexity (" + a.perplexity + ") generates no text",
                  {{checks, "--lint and --verify"},
                   {a.ids, "--ids"},
                   {a.times, "--times"},
                   {a.parallel > 1, "--parallel"},
                   {a.iterations > 1, "--iterations-per-submit"},
                   {a.sampling.temperature != 0, "--temp"},
                   {a.sampling.penalises(), "--repeat-penalty"}});
  }
  if (a.mode == "direct") {
    require_apart("--mode direct submits every token by itself",
                  {{a.iterations > 1, "--iterations-per-submit"}});
  }
  if (a.parallel * prompts > 1) {
    if (a.iterations > 1) {
      reprise::throw_invalid_argument("--iterations-per-submit is (" +
                                      std::to_string(a.iterations) +
                                      "), but several sequences take 1.");
    }
    if (checks) {
      reprise::throw_invalid_argument("--lint and --verify are for one sequence, but there are (" +
                                      std::to_string(a.parallel * prompts) + ").");
    }
    if (a.times) {
      reprise::throw_invalid_argument("--times is for one sequence, but there are (" +
                                      std::to_string(a.parallel * prompts) +
                                      "); --json says the rates of several.");
    }
  }
}

}  // namespace llama
