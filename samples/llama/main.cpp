// reprise-llama: text generation with a GGUF model.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "reprise/formats/tokenizer.h"
#include "reprise/profile/timing_mode.h"
#include "samples/llama/checks.h"
#include "samples/llama/pipeline_cache_path.h"

namespace {

struct Arguments {
  std::string model, prompt, device = "auto", mode = "recorded", precision = "exact";
  std::string profile, profile_mode = "replay";
  long long count = 64;
  long long context = 0;
  unsigned threads = 0, iterations = 1;
  bool ids = false, json = false, times = false;
  llama::Checks checks;
};

constexpr int kFound = 3;  // exit status: a check found something

std::uint64_t median(std::vector<std::uint64_t> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double per_second(std::size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

double seconds_of(const reprise::FinishReport& r) {
  return static_cast<double>(r.record_ns + r.encode_ns + r.submit_ns + r.wait_ns) * 1e-9;
}

void print_times(const llama::Generation& g, std::size_t prompt) {
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  std::fprintf(stderr, "%-8s %10s %10s %10s %10s %10s %10s %10s\n", "", "record us", "plan us",
               "encode us", "submit us", "wait us", "device us", "tok/s");
  const auto line = [&](const char* name, const reprise::FinishReport& r, std::uint64_t submit,
                        std::uint64_t wait, std::uint64_t device, double rate) {
    std::fprintf(stderr, "%-8s %10.0f %10.0f %10.0f %10.1f %10.1f %10.1f %10.1f\n", name,
                 us(r.record_ns), us(r.plan_ns), us(r.encode_ns), us(submit), us(wait), us(device),
                 rate);
  };
  line("prefill", g.prefill, g.prefill.submit_ns, g.prefill.wait_ns,
       g.prefill.device_ns.value_or(0), per_second(prompt, seconds_of(g.prefill)));
  if (!g.submit_ns.empty()) {
    line("decode", g.decode, median(g.submit_ns), median(g.wait_ns), median(g.device_ns),
         per_second(g.submit_ns.size(), g.decode_seconds));
  }
}

nlohmann::json to_json(const llama::WeightBytes& weights, const llama::Generation& g,
                       const std::vector<std::int32_t>& prompt, const std::string& text) {
  return {{"prompt_ids", prompt},
          {"weight_bytes", weights.all},
          {"weight_bytes_in_place", weights.in_place},
          {"generated_ids", g.ids},
          {"text", text},
          {"prefill_tok_s", per_second(prompt.size(), seconds_of(g.prefill))},
          {"decode_tok_s", per_second(g.submit_ns.size(), g.decode_seconds)},
          {"nodes", g.decode.ops},
          {"barriers", g.decode.barriers},
          {"replays", g.replays},
          {"submissions", g.submissions},
          {"allocations_after_first_step", g.allocations},
          {"record_ns", g.decode.record_ns},
          {"plan_ns", g.decode.plan_ns},
          {"submit_ns_p50", median(g.submit_ns)},
          {"wait_ns_p50", median(g.wait_ns)},
          {"device_ns_p50", median(g.device_ns)}};
}

reprise::Device open(const std::string& name, unsigned threads) {
  reprise::OpenOptions options;
  options.threads = threads;
  const char* validate = std::getenv("REPRISE_VALIDATION");
  options.validation = validate != nullptr && *validate != '\0';
  options.pipeline_cache =
      llama::pipeline_cache_path(name, [](const char* variable) { return std::getenv(variable); });
  options.log = [](reprise::LogLevel level, std::string_view text) {
    if (level >= reprise::LogLevel::warning) {
      std::cerr << text << '\n';
    }
  };
  reprise::Device device = reprise::open_device(name, options);
  std::cerr << "device: " << device.info().backend << " (" << device.info().name << ")"
            << (name == "auto" && device.info().backend == "cpu" ? ", no GPU was found" : "")
            << '\n';
  return device;
}

/// A profile that was not there before is taken away again when the run fails.
class ProfileGuard {
 public:
  explicit ProfileGuard(std::string path)
      : path_(std::move(path)), existed_(std::filesystem::exists(path_)) {}
  ProfileGuard(const ProfileGuard&) = delete;
  ProfileGuard& operator=(const ProfileGuard&) = delete;
  ~ProfileGuard() {
    if (!path_.empty() && !existed_ && !done_) {
      for (const char* suffix : {"", "-wal", "-shm"}) {
        std::error_code ignored;
        std::filesystem::remove(path_ + suffix, ignored);
      }
    }
  }
  void done() { done_ = true; }

 private:
  std::string path_;
  bool existed_, done_ = false;
};

int run(const Arguments& a, const std::vector<std::string>& command_line) {
  if (a.count < 1) {
    reprise::invalid("-n is (" + std::to_string(a.count) + "), but must be at least 1.");
  }
  if (a.context < 0) {
    reprise::invalid("--ctx is (" + std::to_string(a.context) +
                     "), but must be at least 1, or 0 for the model's own.");
  }
  const auto file = reprise::GgufFile::open(a.model);
  const llama::Sizes sizes = llama::sizes_of(file);
  const reprise::Tokenizer tokenizer(file);
  const std::int64_t context = a.context == 0 ? sizes.context : a.context;
  if (context > sizes.context) {
    reprise::invalid("--ctx is (" + std::to_string(context) + "), but the model's context has " +
                     std::to_string(sizes.context) + " positions.");
  }
  const std::vector<std::int32_t> prompt = tokenizer.encode(a.prompt);
  if (static_cast<std::int64_t>(prompt.size()) > context) {
    reprise::invalid("The prompt has (" + std::to_string(prompt.size()) +
                     ") tokens, but the context holds " + std::to_string(context) + ".");
  }
  const reprise::Device device = open(a.device, a.threads);
  ProfileGuard guard(a.profile);
  llama::Generation result;
  llama::WeightBytes weights;
  std::string text;
  {
    reprise::GraphExecutor executor(
        device, {.profile = a.profile,
                 .run = {.app = "reprise-llama",
                         .arguments = command_line,
                         .label = a.mode,
                         .model_path = a.model},
                 .log = [](reprise::LogLevel, std::string_view line) { std::cerr << line << '\n'; },
                 .timing = *reprise::timing_mode_of(a.profile_mode),
                 .precision = *reprise::precision_of(a.precision)});
    const llama::Model model = llama::load_model(device, file, context);
    weights = model.weight_bytes;
    std::cerr << "weights: " << weights.all << " bytes, " << weights.in_place
              << " of them in place\n";
    // The prompt is printed with the first token: a run that fails prints nothing but its error.
    const auto print = [&](std::string_view piece) {
      if (!a.json) {
        std::cout << (text.empty() ? a.prompt : "") << piece << std::flush;
      }
    };
    const llama::Request request{
        .prompt = prompt,
        .count = static_cast<std::size_t>(a.count),
        .context = context,
        .end_token = tokenizer.eos(),
        .mode = a.mode == "direct" ? llama::Mode::direct : llama::Mode::recorded,
        .iterations_per_submit = a.iterations};
    if (a.checks.lint || a.checks.verify) {
      const llama::CheckOutcome outcome = llama::check(executor, model, request, a.checks);
      std::cerr << outcome.text << '\n';
      if (!outcome.passed) {
        guard.done();
        return kFound;
      }
    }
    result = llama::generate(executor, model, request, [&](std::int32_t id) {
      const std::string piece = tokenizer.piece(id);
      print(piece);
      text += piece;
    });
    if (text.empty()) {
      print("");
    }
  }
  guard.done();
  if (a.json) {
    std::cout << to_json(weights, result, prompt, text)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << '\n';
  }
  if (a.ids) {
    std::cout << "ids:";
    for (const std::int32_t id : result.ids) {
      std::cout << ' ' << id;
    }
    std::cout << '\n';
  }
  if (a.times) {
    print_times(result, prompt.size());
  }
  return reprise::validation_message_count(device) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments a;
  CLI::App app("Generates text with a Llama-architecture GGUF model.", "reprise-llama");
  app.set_version_flag("--version", "reprise-llama 0.1.0");
  app.add_option("-m,--model", a.model, "GGUF file")->required();
  app.add_option("-p,--prompt", a.prompt, "Text to continue")->required();
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
  app.add_option("--ctx", a.context, "Positions of the key-value cache; 0: the model's context")
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return run(a, {argv + 1, argv + argc});
} catch (const std::exception& e) {
  std::cout << std::flush;
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
