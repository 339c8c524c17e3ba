// How many tokens per second does the llama sample process? llama-bench's question, flags and rows.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/llama_run.h"
#include "bench/llm_row.h"
#include "bench/model_facts.h"
#include "bench/number_list.h"
#include "bench/statistics.h"
#include "reprise/core/printable.h"

namespace reprise::bench {
namespace {

/// Every list is run against every other one.
struct LlmArguments {
  std::vector<std::string> models;
  std::vector<std::string> prompt{"512"}, generate{"128"}, depth{"0"}, batch{"2048"}, threads{"0"};
  std::vector<std::string> prompt_generate;  // "512,128": one after the other, measured together
  std::vector<std::string> devices{"auto"}, modes{"recorded"}, precisions{"exact"};
  std::string cache = "f32";
  std::int64_t reps = 5;
  std::string format = "md";  // json, csv, sql
  std::string profile;        // profiling database for the table benchmarks; empty: none
  std::vector<std::string> command_line;
};

using Clock = std::chrono::steady_clock;

/// What one row measures.
struct Test {
  std::int64_t prompt = 0, generate = 0, depth = 0, batch = 0;
  std::int64_t positions() const { return depth + prompt + generate; }
};

std::string name_of(const Test& test, const std::string& cache) {
  const auto part = [](const char* name, std::int64_t count) {
    return count == 0 ? std::string() : name + std::to_string(count);
  };
  return part("pp", test.prompt) + (test.prompt != 0 && test.generate != 0 ? "+" : "") +
         part("tg", test.generate) + part(" @ d", test.depth) +
         (cache == "f32" ? "" : " " + cache + " cache");
}

/// "512,128"
std::pair<std::int64_t, std::int64_t> pair_of(const std::string& text) {
  std::int64_t first = 0;
  std::int64_t second = 0;
  const char* const end = text.data() + text.size();
  const auto [comma, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc() || comma == end || *comma != ',' ||
      std::from_chars(comma + 1, end, second).ptr != end) {
    throw_invalid_argument("-pg is (", text, "), but must be two numbers, as in 512,128.");
  }
  require_between("-pg", first, 1, kMaxTokens);
  require_between("-pg", second, 1, kMaxTokens);
  return {first, second};
}

/// In llama-bench's order.
std::vector<Test> tests_of(const LlmArguments& a) {
  std::vector<Test> tests;
  const auto batches = numbers_of("-b", a.batch, 1, kMaxTokens);
  const auto prompts = numbers_of("-p", a.prompt, 0, kMaxTokens);
  const auto generates = numbers_of("-n", a.generate, 0, kMaxTokens);
  for (const std::int64_t depth : numbers_of("-d", a.depth, 0, kMaxTokens)) {
    for (const std::int64_t batch : batches) {
      for (const std::int64_t prompt : prompts) {
        tests.push_back({.prompt = prompt, .depth = depth, .batch = batch});
      }
      for (const std::int64_t generate : generates) {
        tests.push_back({.generate = generate, .depth = depth, .batch = batch});
      }
      for (const std::string& text : a.prompt_generate) {
        const auto [prompt, generate] = pair_of(text);
        tests.push_back({prompt, generate, depth, batch});
      }
    }
  }
  std::erase_if(tests, [](const Test& t) { return t.prompt == 0 && t.generate == 0; });
  if (tests.empty()) {
    throw_invalid_argument("Nothing is to be measured: -p and -n are (0) and there is no -pg.");
  }
  return tests;
}

std::int32_t run_once(LlamaRun& run, const Test& test) {
  std::int32_t last = 0;
  if (test.prompt > 0) {
    last = run.prompt(test.depth, test.prompt, test.batch);
  }
  if (test.generate > 0) {
    last = run.generate(test.depth + test.prompt, test.generate);
  }
  return last;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Fills in all that comes from the samples.
void measure(LlamaRun& run, const Test& test, const LlmArguments& a, LlmRow& row) {
  BenchmarkRecord& r = row.record;
  r.test = name_of(test, a.cache);
  r.n_prompt = static_cast<std::uint32_t>(test.prompt);
  r.n_gen = static_cast<std::uint32_t>(test.generate);
  r.n_depth = static_cast<std::uint32_t>(test.depth);
  r.n_batch = static_cast<std::uint32_t>(test.batch);
  r.test_time = now_utc();
  if (test.depth > 0) {
    run.prompt(0, test.depth, test.batch);
  }
  const std::int32_t expected = run_once(run, test);  // records; drivers compile at the first run
  std::vector<double> ns;
  for (std::int64_t i = 0; i < a.reps; ++i) {
    const Clock::time_point begin = Clock::now();
    const std::int32_t last = run_once(run, test);
    const std::int64_t sample = std::chrono::nanoseconds(Clock::now() - begin).count();
    if (last != expected) {
      throw std::runtime_error("Two runs of " + r.test + " end with different tokens (" +
                               std::to_string(last) + ", " + std::to_string(expected) + ").");
    }
    r.samples_ns.push_back(sample);
    ns.push_back(static_cast<double>(sample));
    row.samples_ts.push_back(1e9 * static_cast<double>(test.prompt + test.generate) / ns.back());
  }
  const Summary time = summarize(ns);
  const Summary rate = summarize(row.samples_ts);
  r.avg_ns = time.mean;
  r.stddev_ns = time.stddev;
  r.avg_ts = rate.mean;
  r.stddev_ts = rate.stddev;
  r.median_ts = rate.median;
  row.q1_ts = rate.q1;
  row.q3_ts = rate.q3;
}

struct OpenModel {
  std::string path;
  GgufFile file;
};

/// Throws invalid_argument for a model whose context has fewer positions.
std::vector<OpenModel> open_models(const LlmArguments& a, std::int64_t positions) {
  std::vector<OpenModel> models;
  for (const std::string& path : a.models) {
    models.push_back({path, GgufFile::open(path)});
    const std::int64_t context = llama::sizes_of(models.back().file).context;
    if (positions > context) {
      throw_invalid_argument("A test needs (", positions, ") positions, but the context of (", path,
                             ") has ", context, ".");
    }
  }
  return models;
}

/// Threads are chosen on the CPU only: every other device is there once.
std::vector<Device> open_devices(const LlmArguments& a) {
  const auto threads = numbers_of("-t", a.threads, 0, kMaxThreads);
  std::vector<Device> devices;
  for (const std::string& name : a.devices) {
    for (const std::int64_t count : threads) {
      devices.push_back(open_with_threads(name, count));
      if (devices.back().info().backend != "cpu") {
        break;
      }
    }
  }
  return devices;
}

/// All that is given is opened before the first measurement: what is wrong with it shows at once.
class LlmBenchmark {
 public:
  explicit LlmBenchmark(const LlmArguments& a)
      : a_(a),
        tests_(tests_of(a)),
        positions_(std::ranges::max(tests_, {}, &Test::positions).positions()),
        models_(open_models(a, positions_)),
        devices_(open_devices(a)),
        sink_(open_sink(a)),
        printer_(std::cout, a.format) {}

  /// An error does not cost the rows before it.
  void run() {
    std::exception_ptr error;
    try {
      for (const OpenModel& model : models_) {
        for (const Device& device : devices_) {
          measure_all(model, device);
        }
      }
    } catch (...) {
      error = std::current_exception();
    }
    printer_.end();
    store_rows();
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  static std::shared_ptr<ProfileSink> open_sink(const LlmArguments& a) {
    const auto log = [](LogLevel, std::string_view line) {
      std::cerr << printable_lines(line) << '\n';
    };
    return a.profile.empty()
               ? nullptr
               : open_profile(a.profile,
                              {.app = "reprise-bench", .arguments = a.command_line, .label = "llm"},
                              log);
  }

  void measure_all(const OpenModel& open, const Device& device) {
    const ModelFacts facts = facts_of(open.file);
    const llama::Model model =
        llama::load_model(device, open.file, positions_, {.cache = *dtype_named(a_.cache)});
    for (const std::string& precision : a_.precisions) {
      GraphExecutor executor(
          device, {.timing = TimingMode::off, .precision = precision_of(precision).value()});
      for (const std::string& mode : a_.modes) {
        LlamaRun runs(executor, model,
                      mode == "direct" ? llama::Mode::direct : llama::Mode::recorded);
        for (const Test& test : tests_) {
          LlmRow row{.device = device.info(), .model_filename = open.path, .mode = mode};
          row.record.model_type = facts.type;
          row.record.model_size_bytes = facts.bytes;
          row.record.model_n_params = facts.parameters;
          row.record.n_threads = static_cast<std::uint32_t>(threads_of(device));
          row.record.precision = precision;
          measure(runs, test, a_, row);
          printer_.row(row);
          rows_.push_back(std::move(row));
        }
      }
    }
  }

  /// After the last measurement: until then the writer's thread finds nothing when it looks, a
  /// hundred times a second.
  void store_rows() const {
    if (sink_ == nullptr) {
      return;
    }
    for (const LlmRow& row : rows_) {
      sink_->device(row.device);
      sink_->send(row.record);
    }
  }

  const LlmArguments& a_;
  std::vector<Test> tests_;
  std::int64_t positions_;
  std::vector<OpenModel> models_;
  std::vector<Device> devices_;
  std::shared_ptr<ProfileSink> sink_;
  LlmPrinter printer_;
  std::vector<LlmRow> rows_;
};

/// Prints the rows; README.md says what is measured.
void print_llm(const LlmArguments& a) {
  require_between("-r", a.reps, 1, kMaxReps);
  LlmBenchmark(a).run();
}

}  // namespace

void add_llm(CLI::App& app, const std::vector<std::string>& command_line) {
  const auto a = std::make_shared<LlmArguments>();
  a->command_line = command_line;
  CLI::App* llm = app.add_subcommand(
      "llm", "Tokens per second of the llama sample, with the flags and rows of llama-bench");
  const auto list = [&](const char* names, auto& values, const char* help) {
    return llm->add_option(names, values, help)->delimiter(',')->capture_default_str();
  };
  list("-m,--model", a->models, "GGUF files")->required();
  list("-p,--n-prompt", a->prompt, "Tokens of the prompt; 0: no such test");
  list("-n,--n-gen", a->generate, "Tokens to generate, one by one; 0: no such test");
  llm->add_option("--pg", a->prompt_generate,
                  "PP,TG: a prompt and what is generated after it, measured together; also -pg")
      ->take_all();
  list("-d,--n-depth", a->depth, "Positions in the cache before a test begins");
  list("-b,--batch-size", a->batch, "Most tokens of a prompt in one launch");
  list("-t,--threads", a->threads, "Threads of the CPU backend; 0: one per usable core");
  list("--device", a->devices, "auto, cpu, vulkan or vulkan:<number>");
  list("--mode", a->modes, "direct: a session per launch; recorded: graphs, replayed")
      ->check(CLI::IsMember({"direct", "recorded"}));
  list("--precision", a->precisions, "exact or fast")->check(CLI::IsMember({"exact", "fast"}));
  llm->add_option("--cache", a->cache, "How keys and values are kept")
      ->check(CLI::IsMember({"f32", "f16", "q8_0"}))
      ->capture_default_str();
  llm->add_option("-r,--repetitions", a->reps, "Measured repetitions")->capture_default_str();
  llm->add_option("-o,--output", a->format, "Format of the rows")
      ->check(CLI::IsMember({"md", "json", "csv", "sql"}))
      ->capture_default_str();
  llm->add_option("--profile", a->profile,
                  "Profiling database whose table benchmarks gets the rows too");
  llm->callback([a] { print_llm(*a); });
}

}  // namespace reprise::bench
