#include "tests/crossed/check.h"

#include <algorithm>
#include <cmath>

#include "tests/crossed/common.h"
#include "tests/crossed/interpreter.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

std::string in_round(std::size_t round, std::size_t iteration, const std::string& name) {
  return "round " + std::to_string(round) + ", iteration " + std::to_string(iteration) +
         ", output " + name;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// Of a device and the meaning; empty if they agree.
std::string difference(const Numbers& meant, const Numbers& got, double tolerance) {
  const std::vector<double> values = values_of(got.kind, got.bytes);
  if (got.kind != meant.kind || values.size() != meant.values.size()) {
    return std::to_string(values.size()) + " elements instead of " +
           std::to_string(meant.values.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(values[i] - meant.values[i]) <= tolerance)) {
      return "element " + std::to_string(i) + " is " + number(values[i]) + " instead of " +
             number(meant.values[i]) + ", tolerance " + number(tolerance);
    }
  }
  return "";
}

/// Of two runs on one device.
std::string bit_difference(const Numbers& direct, const Numbers& got) {
  if (direct.bytes == got.bytes) {
    return "";
  }
  const std::vector<double> expected = values_of(direct.kind, direct.bytes);
  const std::vector<double> actual = values_of(got.kind, got.bytes);
  for (std::size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    if (!(expected[i] == actual[i])) {
      return "element " + std::to_string(i) + " is " + number(actual[i]) + " and directly " +
             number(expected[i]);
    }
  }
  return std::to_string(got.bytes.size()) + " bytes and directly " +
         std::to_string(direct.bytes.size());
}

/// Calls f(what, expected, got, round, iteration) for all that was left, until it returns text.
template <class F>
std::string compare(const Outcome& expected, const Outcome& got, F&& f) {
  for (std::size_t r = 0; r < expected.rounds.size(); ++r) {
    const RoundOutcome &e = expected.rounds[r], &g = got.rounds[r];
    if (e.iterations != g.iterations) {
      return "round " + std::to_string(r) + " ran " + std::to_string(g.iterations) +
             " iterations instead of " + std::to_string(e.iterations);
    }
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
      for (const auto& [name, numbers] : g.outputs[i]) {
        const std::string text = f(name, e.outputs[i].at(name), numbers, r, i);
        if (!text.empty()) {
          return in_round(r, i, name) + ": " + text;
        }
      }
    }
  }
  for (const auto& [name, numbers] : expected.left) {
    const std::string text = f(name, numbers, got.left.at(name), expected.rounds.size(), 0);
    if (!text.empty()) {
      return "in the end, " + name + ": " + text;
    }
  }
  for (const auto& [name, value] : expected.fields) {
    if (got.fields.at(name) != value) {
      return "in the end, field " + name + " is " + std::to_string(got.fields.at(name)) +
             " instead of " + std::to_string(value);
    }
  }
  return "";
}

std::string compare_meaning(const Meant& meant, const Outcome& got) {
  return compare(meant.outcome, got,
                 [&](const std::string& name, const Numbers& expected, const Numbers& numbers,
                     std::size_t round, std::size_t iteration) {
                   const double tolerance = round < meant.tolerances.size()
                                                ? meant.tolerances[round][iteration].at(name)
                                                : meant.left_tolerances.at(name);
                   return difference(expected, numbers, tolerance);
                 });
}

std::string compare_bits(const Outcome& direct, const Outcome& got) {
  return compare(direct, got,
                 [](const std::string&, const Numbers& expected, const Numbers& numbers,
                    std::size_t, std::size_t) { return bit_difference(expected, numbers); });
}

double loosest(const Meant& meant) {
  double loosest = 0;
  for (std::size_t r = 0; r < meant.tolerances.size(); ++r) {
    for (std::size_t i = 0; i < meant.tolerances[r].size(); ++i) {
      for (const auto& [name, tolerance] : meant.tolerances[r][i]) {
        double largest = 1e-3;
        for (const double value : meant.outcome.rounds[r].outputs[i].at(name).values) {
          largest = std::max(largest, std::fabs(value));
        }
        loosest = std::max(loosest, tolerance / largest);
      }
    }
  }
  return loosest;
}

}  // namespace

Verdict check(const Program& program, const Device& device, const std::string& folder) {
  Verdict verdict;
  const Meant meant = interpret(program);
  verdict.undecided = meant.undecided;
  try {
    const Outcome got = program.setup.executable ? run_executable(program, device, folder)
                                                 : run_sessions(program, device, folder);
    if (meant.undecided.empty()) {
      verdict.loosest = loosest(meant);
      verdict.difference = compare_meaning(meant, got);
    }
    const bool rounds_otherwise = program.setup.placed_experts && program.setup.cpu_misses;
    if (verdict.difference.empty() && !rounds_otherwise &&
        (program.max_iterations() == 1 || !writes_an_input(program))) {
      verdict.difference = compare_bits(run_directly(program, device, folder), got);
    }
  } catch (const std::exception& error) {
    verdict.throws = true;
    verdict.difference = std::string("it throws: ") + error.what();
  }
  return verdict;
}

}  // namespace reprise::crossed
