#include "tests/crossed/campaign.h"

#include <csignal>
#include <unistd.h>

#include "tests/crossed/check.h"
#include "tests/crossed/devices.h"
#include "tests/crossed/generate.h"
#include "tests/crossed/shrink.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/testing.h"

namespace reprise::crossed {
namespace {

constexpr std::size_t kMoreForPairs = 40;  // programs, where some pairs did not meet yet
constexpr std::array kWhereNames{"cpu", "portable", "lanes", "gpu"};

/// What repeats the program that runs.
std::string& repeats() {
  static std::string text;
  return text;
}
std::string how_to_repeat(const Program& program) {
  return "REPRISE_CROSSED_PROGRAM=" +
         std::string(kWhereNames[static_cast<std::size_t>(program.setup.where)]) + ":" +
         std::to_string(program.seed);
}

/// A program that ends the process is named at least.
void tell_and_die(int signal) {
  const std::string& text = repeats();
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
void name_what_crashes() {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) {
    const auto before = std::signal(signal, tell_and_die);
    if (before != SIG_DFL) {
      std::signal(signal, before);  // a sanitizer has more to say
    }
  }
}

/// Each program in a folder of its own, which is gone afterwards.
Verdict run_in_folder(const Program& program, bool validated) {
  static const bool kNamed = (name_what_crashes(), true);
  static_cast<void>(kNamed);
  repeats() = "\nThe process ended in " + how_to_repeat(program) + "\n" + text_of(program);
  const test::TempFolder folder;
  const Device device = device_for(program.setup, validated);
  Verdict verdict = check(program, device, folder / "");
  testing::wait_idle(device);
  return verdict;
}

std::string failure_of(const Program& program, const Verdict& verdict, bool validated) {
  Verdict last = verdict;
  const Program small = shrink(program, [&](const Program& smaller) {
    const Verdict found = run_in_folder(smaller, validated);
    const bool same_kind = !found.difference.empty() && found.throws == verdict.throws;
    if (same_kind) {
      last = found;
    }
    return same_kind;
  });
  return "program " + std::to_string(program.seed) + ": " + verdict.difference + "\nShrunk, " +
         last.difference + "\n" + text_of(small) + "Repeat it with " + how_to_repeat(program) +
         " reprise_crossed_tests --gtest_filter=CrossedProgram.*";
}

}  // namespace

std::string Report::summary() const {
  std::string text = std::to_string(programs) + " programs; " + pairs.summary();
  text += "; " + std::to_string(loose) + " within more than 1 % of the largest number";
  for (const auto& [reason, count] : undecided) {
    text += "; " + std::to_string(count) + " by bits alone: " + reason;
  }
  return text;
}

namespace {

/// Of several programs, the one in which most pairs meet that did not before.
Program choose(std::mt19937_64& rng, Where where, const PairTable& pairs, std::size_t candidates) {
  Program chosen = generate(rng(), where);
  std::size_t best = candidates == 1 ? 0 : pairs.new_pairs(chosen);
  for (std::size_t i = 1; i < candidates; ++i) {
    const Program candidate = generate(rng(), where);
    const std::size_t found = pairs.new_pairs(candidate);
    if (found > best) {
      chosen = candidate;
      best = found;
    }
  }
  return chosen;
}

}  // namespace

Report run(const Campaign& campaign) {
  Report report;
  std::mt19937_64 rng(campaign.seed);
  const auto goes_on = [&] {
    const bool some_left = campaign.candidates > 1 && !report.pairs.never_met().empty();
    return report.programs < campaign.programs ||
           (some_left && report.programs < campaign.programs + kMoreForPairs);
  };
  while (goes_on()) {
    const Where where = campaign.where[report.programs % campaign.where.size()];
    const std::size_t search = report.programs < campaign.programs ? 1 : 16;
    const Program program = choose(rng, where, report.pairs, campaign.candidates * search);
    const Verdict verdict = run_in_folder(program, campaign.validated);
    if (!verdict.difference.empty()) {
      report.failure = failure_of(program, verdict, campaign.validated);
      return report;
    }
    ++report.programs;
    report.pairs.add(program);
    report.loose += verdict.loosest > 0.01 ? 1 : 0;
    if (!verdict.undecided.empty()) {
      ++report.undecided[verdict.undecided];
    }
  }
  return report;
}

std::string run_one(std::uint64_t seed, Where where, bool validated) {
  const Program program = generate(seed, where);
  std::printf("%s", text_of(program).c_str());
  const Verdict verdict = run_in_folder(program, validated);
  std::printf("undecided: %s; widest tolerance %.2g of the largest number\n",
              verdict.undecided.c_str(), verdict.loosest);
  return verdict.difference.empty() ? "" : failure_of(program, verdict, validated);
}

}  // namespace reprise::crossed
