// reprise-llama: text generation with a GGUF model.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "framework/programs/json_output.h"
#include "framework/programs/terminal.h"
#include "framework/programs/text_file.h"
#include "reprise/core/printable.h"
#include "reprise/formats/tokenizer.h"
#include "reprise/profile.h"
#include "samples/llama/arguments.h"
#include "samples/llama/pipeline_cache_path.h"
#include "samples/llama/report.h"

namespace {

using llama::Arguments, llama::Transcript;

constexpr std::size_t kMaxText = std::size_t{64} << 20U;  // bytes for --perplexity
constexpr int kFound = 3;                                 // exit status: a check found something

void log(reprise::LogLevel /*level*/, std::string_view text) {
  std::cerr << reprise::printable_lines(text) << '\n';
}

reprise::Device open(const std::string& name, unsigned threads) {
  reprise::OpenOptions options;
  options.threads = threads;
  const char* validate = std::getenv("REPRISE_VALIDATION");
  options.validation =
      validate != nullptr && *validate != '\0' && std::string_view(validate) != "0";
  options.pipeline_cache =
      llama::pipeline_cache_path([](const char* variable) { return std::getenv(variable); });
  options.log = [](reprise::LogLevel level, std::string_view text) {
    if (level >= reprise::LogLevel::warning) {
      log(level, text);
    }
  };
  reprise::Device device = reprise::open_device(name, options);
  std::cerr << "device: " << device.info().backend << " (" << reprise::printable(device.info().name)
            << ")" << (name == "auto" && device.info().backend == "cpu" ? ", no GPU was found" : "")
            << '\n';
  return device;
}

void print(const nlohmann::json& object) { reprise::programs::print_json(object, -1); }

/// What is printed of a text: its bytes as they are, unless it is for a terminal.
class Shown {
 public:
  std::string add(const std::string& piece) { return terminal_ ? stream_.add(piece) : piece; }
  std::string end() { return stream_.end(); }

 private:
  bool terminal_ = reprise::programs::output_is_terminal();
  reprise::programs::PrintableStream stream_;
};

void print_ids(const std::vector<std::int32_t>& ids) {
  std::cout << "ids:";
  for (const std::int32_t id : ids) {
    std::cout << ' ' << id;
  }
  std::cout << '\n';
}

/// A run of the program: what it was told, and what it made of the model file.
struct Run {
  const Arguments& arguments;
  const reprise::Tokenizer& tokenizer;
  const llama::Model& model;
  reprise::GraphExecutor& executor;
  std::int64_t context;
};

int generate(const Run& run, const std::vector<std::int32_t>& prompt) {
  const Arguments& a = run.arguments;
  const llama::Request request{.prompt = prompt,
                               .count = static_cast<std::size_t>(a.count),
                               .context = run.context,
                               .end_token = run.tokenizer.eos(),
                               .mode = a.execution_mode(),
                               .iterations_per_submit = a.iterations,
                               .sampling = a.sampling};
  if (a.checks.lint || a.checks.verify) {
    const llama::CheckOutcome outcome = check(run.executor, run.model, request, a.checks);
    std::cerr << reprise::printable_lines(outcome.text) << '\n';
    if (!outcome.passed) {
      return kFound;
    }
  }
  Transcript said{.prompt = prompt, .ids = {}, .text = {}};
  Shown shown;
  // The prompt is printed with the first token: a run that fails prints nothing but its error.
  bool began = false;
  const auto show = [&](const std::string& piece) {
    const std::string text = std::exchange(began, true) ? piece : a.prompts.front() + piece;
    if (!a.json) {
      std::cout << shown.add(text) << std::flush;
    }
  };
  const auto emit = [&](std::int32_t id) {
    const std::string piece = run.tokenizer.piece(id);
    show(piece);
    said.text += piece;
  };
  const auto report = [&](const auto& result) {
    if (!began) {
      show("");
    }
    if (a.json) {
      print(to_json(run.model.weight_bytes, result, said));
    } else {
      std::cout << shown.end() << '\n';
      if (a.ids) {
        print_ids(result.ids);
      }
    }
    if (a.times) {
      print_times(result, prompt.size());
    }
  };
  if (run.model.expert_store) {
    report(generate_with_experts(run.executor, run.model, request, a.expert_budget, emit));
  } else {
    report(generate(run.executor, run.model, request, emit));
  }
  return 0;
}

int generate_all(const Run& run, const std::vector<std::vector<std::int32_t>>& prompts) {
  const Arguments& a = run.arguments;
  const llama::ParallelGeneration result =
      generate_parallel(run.executor, run.model,
                        {.prompts = prompts,
                         .count = static_cast<std::size_t>(a.count),
                         .context = run.context,
                         .end_token = run.tokenizer.eos(),
                         .mode = a.execution_mode(),
                         .sampling = a.sampling});
  std::vector<Transcript> all;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    all.push_back({prompts[i], result.ids[i], {}});
    for (const std::int32_t id : result.ids[i]) {
      all.back().text += run.tokenizer.piece(id);
    }
  }
  if (a.json) {
    print(to_json(run.model.weight_bytes, result, all));
    return 0;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t of = i / static_cast<std::size_t>(a.parallel);
    Shown shown;
    std::cout << shown.add(a.prompts[of] + all[i].text) << shown.end() << '\n';
    if (a.ids) {
      print_ids(all[i].ids);
    }
  }
  return 0;
}

int perplexity(const Run& run, const std::string& text) {
  const Arguments& a = run.arguments;
  const auto with_bos = run.tokenizer.encode("");
  const auto tokens = run.tokenizer.encode(text);
  const llama::Perplexity result =
      perplexity(run.executor, run.model,
                 {.tokens = tokens,
                  .context = run.context,
                  .first_token = with_bos.empty() ? -1 : with_bos.front(),
                  .mode = a.execution_mode()},
                 [](const llama::Perplexity& so_far) {
                   std::fprintf(stderr, "chunk %zu: %.4f\n", so_far.chunks, so_far.value);
                 });
  if (a.json) {
    print(to_json(run.model.weight_bytes, result));
  } else {
    std::printf("perplexity: %.4f +/- %.4f (%zu tokens in %zu chunks)\n", result.value,
                result.error, result.tokens, result.chunks);
  }
  return 0;
}

int run(const Arguments& a, const std::vector<std::string>& command_line) {
  require_consistent(a);
  const auto file = reprise::GgufFile::open(a.model);
  const llama::Sizes sizes = llama::sizes_of(file);
  const reprise::Tokenizer tokenizer(file);
  const std::int64_t context = a.context == 0 ? sizes.context : a.context;
  if (context > sizes.context) {
    reprise::throw_invalid_argument("--ctx is (" + std::to_string(context) +
                                    "), but the model's context has " +
                                    std::to_string(sizes.context) + " positions.");
  }
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::string& prompt : a.prompts) {
    const std::vector<std::int32_t> ids = tokenizer.encode(prompt);
    if (static_cast<std::int64_t>(ids.size()) > context) {
      reprise::throw_invalid_argument("The prompt has (" + std::to_string(ids.size()) +
                                      ") tokens, but the context holds " + std::to_string(context) +
                                      ".");
    }
    prompts.insert(prompts.end(), static_cast<std::size_t>(a.parallel), ids);
  }
  const std::string text =
      a.perplexity.empty() ? "" : reprise::programs::read_text(a.perplexity, kMaxText);
  const reprise::Device device = open(a.device, a.threads);
  const llama::Model model = llama::load_model(
      device, file, context,
      {.sequences = std::max<std::int64_t>(static_cast<std::int64_t>(prompts.size()), 1),
       .experts =
           a.expert_budget > 0 ? llama::ExpertWeights::in_store : llama::ExpertWeights::on_device,
       .cache = *reprise::dtype_named(a.cache)});
  std::cerr << "weights: " << model.weight_bytes.all << " bytes, " << model.weight_bytes.in_place
            << " of them in place";
  if (model.expert_store) {
    std::cerr << ", " << model.weight_bytes.experts << " of them experts on the host";
  }
  std::cerr << '\n';
  int status = 0;
  {
    // Made once the model is known to be good: a database is never taken away again, as another
    // program may write to it by then.
    reprise::GraphExecutor executor(device, {.profile = a.profile,
                                             .run = {.app = "reprise-llama",
                                                     .arguments = command_line,
                                                     .label = a.mode,
                                                     .model_path = a.model},
                                             .log = log,
                                             .timing = *reprise::timing_mode_of(a.profile_mode),
                                             .precision = *reprise::precision_of(a.precision)});
    const Run here{a, tokenizer, model, executor, context};
    status = prompts.empty()       ? perplexity(here, text)
             : prompts.size() == 1 ? generate(here, prompts.front())
                                   : generate_all(here, prompts);
  }
  return status == 0 && reprise::validation_message_count(device) != 0 ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments a;
  if (const int status = parse(a, argc, argv); status >= 0) {
    return status;
  }
  return run(a, {argv + 1, argv + argc});
} catch (const std::exception& e) {
  reprise::programs::print_error(e);
  return 1;
}
