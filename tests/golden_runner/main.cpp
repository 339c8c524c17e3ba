// reprise-golden: holds a device to the golden cases of a folder. One line per case, then
// "N passed, N failed, N skipped".
#include <cstdlib>
#include <iostream>
#include <optional>
#include <regex>

#include <CLI/CLI.hpp>

#include "framework/programs/command_line.h"
#include "framework/programs/terminal.h"
#include "reprise/core/printable.h"
#include "tests/golden_runner/runs.h"

namespace {

using golden::GoldenCase;

struct Arguments {
  std::string folder, device = "auto", mode = "direct", precision = "exact", kernels, filter,
                      tier = "all";
  std::optional<std::size_t> expect;
  unsigned threads = 0;
};

struct Counts {
  std::size_t passed = 0, failed = 0, skipped = 0;
};

reprise::Device open(const Arguments& a) {
  const char* validate = std::getenv("REPRISE_VALIDATION");
  reprise::OpenOptions options;
  options.threads = a.threads;
  options.validation =
      validate != nullptr && *validate != '\0' && std::string_view(validate) != "0";
  options.kernels = reprise::kernel_family_of(a.kernels);
  options.log = [](reprise::LogLevel level, std::string_view text) {
    if (level >= reprise::LogLevel::warning) {
      std::cerr << reprise::printable_lines(text) << '\n';
    }
  };
  reprise::Device device = reprise::open_device(a.device, options);
  std::cerr << "device: " << device.info().backend << " (" << reprise::printable(device.info().name)
            << ")\n";
  return device;
}

void run_case(const reprise::Device& device, const GoldenCase& c, const golden::How& how,
              Counts& counts) {
  try {
    const golden::Results results = c.op == "llama_decode" ? golden::run_decode_case(device, c, how)
                                                           : golden::run_op_case(device, c, how);
    const golden::Verdict verdict = golden::judge(c, results, how.precision);
    ++(verdict.passed ? counts.passed : counts.failed);
    std::cout << (verdict.passed ? "pass " : "FAIL ") << c.name << ": " << verdict.measure
              << (verdict.passed ? "" : ";" + reprise::printable(verdict.reason)) << '\n';
  } catch (const golden::Skip& e) {
    ++counts.skipped;
    std::cout << "skip " << c.name << ": not in this version: " << reprise::printable(e.what())
              << '\n';
  } catch (const std::exception& e) {
    ++counts.failed;
    std::cout << "FAIL " << c.name << ": " << reprise::printable(e.what()) << '\n';
  }
}

int run(const Arguments& a, const std::regex& filter, const reprise::Device& device) {
  const golden::GoldenSet set = golden::load_set(a.folder);
  const golden::How how{a.mode == "direct" ? golden::Mode::direct : golden::Mode::recorded,
                        *reprise::precision_of(a.precision)};
  Counts counts;
  for (const GoldenCase& c : set.cases) {
    if ((a.tier == "all" || a.tier == c.tier) && std::regex_search(c.name, filter)) {
      run_case(device, c, how, counts);
    }
  }
  bool good = counts.failed == 0;
  const std::size_t ran = counts.passed + counts.failed;
  if (a.expect && *a.expect != ran) {
    std::cerr << "error: (" << ran << ") cases matched and ran, but --expect asks for " << *a.expect
              << ".\n";
    good = false;
  }
  if (const std::uint64_t messages = reprise::validation_message_count(device); messages != 0) {
    std::cerr << "error: the validation layer had (" << messages << ") messages.\n";
    good = false;
  }
  std::cout << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped
            << " skipped\n";
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments a;
  CLI::App app("Holds a device to a folder of golden cases.", "reprise-golden");
  app.set_version_flag("--version", "reprise-golden 0.1.0");
  app.add_option("folder", a.folder, "Folder with cases.tsv and golden.bin")->required();
  app.add_option("--device", a.device, "auto, cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  app.add_option("-t,--threads", a.threads, "Threads of the CPU; 0: one per usable core")
      ->capture_default_str();
  app.add_option("--mode", a.mode, "direct: a session per case; recorded: one graph, replayed")
      ->check(CLI::IsMember({"direct", "recorded"}))
      ->capture_default_str();
  app.add_option("--precision", a.precision,
                 "exact, or fast: products of weights in blocks are held to the wider limit")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  app.add_option("--kernels", a.kernels,
                 "Vulkan: portable, lanes or gpu instead of the device's own")
      ->check(CLI::IsMember({"portable", "lanes", "gpu"}));
  app.add_option("--filter", a.filter, "Regular expression that is searched in case names");
  app.add_option("--tier", a.tier, "core, extra or all")
      ->check(CLI::IsMember({"core", "extra", "all"}))
      ->capture_default_str();
  app.add_option("--expect", a.expect, "Cases that must match and run; others are an error");
  reprise::programs::refuse_large_numbers(app);
  std::regex filter;
  try {
    app.parse(argc, argv);
    filter = std::regex(a.filter);
  } catch (const CLI::ParseError& e) {
    return reprise::programs::end_of_parsing(app, e);
  } catch (const std::regex_error& e) {
    std::cerr << "error: --filter is (" << reprise::printable(a.filter)
              << "), which is no regular expression: " << e.what() << '\n';
    return 2;
  }
  std::optional<reprise::Device> device;
  try {
    device = open(a);
    return run(a, filter, *device);
  } catch (const reprise::Error& e) {
    reprise::programs::print_error(e);
    return !device && e.code() == reprise::ErrorCode::invalid_argument ? 2 : 1;
  }
} catch (const std::exception& e) {
  reprise::programs::print_error(e);
  return 1;
}
