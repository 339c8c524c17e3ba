#include "tests/crossed/interpreter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/crossed/data.h"
#include "tests/crossed/meaning.h"

namespace reprise::crossed {
namespace {

constexpr int kDisturbed = 3;     // runs that are disturbed
constexpr double kSafety = 8;     // times how far they moved
constexpr double kLargest = 1e4;  // beyond, f16 and differences mean little

struct Run {
  Outcome outcome;
  std::vector<Choice> choices;
};

/// One interpretation, disturbed or not.
class Interpretation {
 public:
  Interpretation(const Program& program, std::uint64_t noise, bool disturbed)
      : program_(program), noise_(noise, disturbed) {
    for (int leaf = 0; leaf < kLeaves; ++leaf) {
      leaves_.push_back(data_of(static_cast<Leaf>(leaf), program, program.rounds.front()));
    }
  }

  Run run() {
    for (const Round& round : program_.rounds) {
      begin(round);
      RoundOutcome outcome;
      const bool rows = !program_.setup.extent || round.rows > 0;
      const auto stopped = [&] { return program_.looks_at_stop() && state_.done != 0; };
      for (int i = 0; i < round.iterations && rows && !stopped(); ++i) {
        outcome.outputs.push_back(run_once());
        ++outcome.iterations;
      }
      run_.outcome.rounds.push_back(outcome);
    }
    for (const Leaf leaf :
         {Leaf::table, Leaf::keys, Leaf::values, Leaf::halves, Leaf::notes, Leaf::memory}) {
      if (program_.uses(leaf)) {
        run_.outcome.left[kLeafNames[static_cast<std::size_t>(leaf)]] =
            numbers(leaves_[static_cast<std::size_t>(leaf)]);
      }
    }
    run_.outcome.fields = {
        {"pos", state_.position}, {"token", state_.token}, {"done", state_.done}};
    return run_;
  }

 private:
  static Numbers numbers(const Array& array) { return {array.kind, {}, array.flat()}; }

  void begin(const Round& round) {
    for (int id = 0; id < kLeaves; ++id) {
      const auto leaf = static_cast<Leaf>(id);
      const bool stays = leaf == Leaf::memory || leaf == Leaf::notes ||
                         (leaf >= Leaf::table && leaf <= Leaf::halves);
      if (!stays) {
        leaves_[static_cast<std::size_t>(id)] = data_of(leaf, program_, round);
      }
    }
    round_ = &round;
    state_.rows = round.rows;
    state_.number = round.number;
    state_.factor = round.factor / 8.0;
    if (round.position >= 0) {
      state_.position = round.position;
      state_.done = 0;
    }
  }

  Outputs run_once() {
    state_.length = state_.position + state_.rows;
    state_.last = state_.rows - 1;
    std::vector<Array> values = leaves_;
    for (const auto& [given, leaf] :
         {std::pair(Given::memory, Leaf::memory), std::pair(Given::table, Leaf::table)}) {
      if (round_->given == given) {
        values[static_cast<std::size_t>(leaf)] = given_data(leaf, program_, *round_);
      }
    }
    for (const Op& op : program_.ops) {
      values.push_back(run_op(
          {op, values, state_, program_.setup.stops, program_.setup.fast, noise_, run_.choices}));
    }
    Outputs outputs;
    for (const int output : program_.outputs) {
      outputs[name_of_value(output)] = numbers(values[static_cast<std::size_t>(output)]);
    }
    if (round_->given == Given::table && keeps_given_table(program_)) {
      constexpr auto kIndex = static_cast<std::size_t>(Leaf::table);
      leaves_[kIndex] = values[kIndex];
    }
    if (program_.fed >= 0) {
      const Array& fed = values[static_cast<std::size_t>(program_.fed)];
      leaves_[static_cast<std::size_t>(Leaf::memory)] = {fed.kind, fed.dims, fed.flat()};
    }
    return outputs;
  }

  const Program& program_;
  Noise noise_;
  const Round* round_ = nullptr;
  std::vector<Array> leaves_;
  State state_;
  Run run_;
};

/// Whether a device that rounds as the disturbed run did, or some more, may choose otherwise.
bool nearly_equal(const Choice& exact, const Choice& disturbed) {
  double moved = 0;
  for (std::size_t i = 0; i < exact.numbers.size(); ++i) {
    moved = std::max(moved, std::fabs(disturbed.numbers[i] - exact.numbers[i]));
  }
  std::vector<double> order = exact.numbers;
  std::ranges::sort(order, std::greater<>());
  const double gap = order.size() > exact.chosen ? order[exact.chosen - 1] - order[exact.chosen]
                                                 : std::numeric_limits<double>::infinity();
  return !(gap > kSafety * moved);
}

bool nearly_equal(const std::vector<Choice>& exact, const std::vector<Choice>& disturbed) {
  if (exact.size() != disturbed.size()) {
    return true;  // a choice stopped one of them
  }
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (nearly_equal(exact[i], disturbed[i])) {
      return true;
    }
  }
  return false;
}

/// Of one output: how far disturbed runs moved it.
double tolerance(const Numbers& meant, const std::vector<const Numbers*>& disturbed,
                 std::string& undecided) {
  double moved = 0, largest = 0;
  for (std::size_t i = 0; i < meant.values.size(); ++i) {
    const double value = meant.values[i];
    if (!(std::fabs(value) < kLargest)) {
      undecided = "numbers grow too large";
    }
    largest = std::max(largest, std::fabs(value));
    for (const Numbers* const other : disturbed) {
      moved = std::max(moved, std::fabs(other->values[i] - value));
    }
  }
  if (meant.kind == Kind::i32) {
    return 0;
  }
  const double unit = meant.kind == Kind::f16 ? 0x1p-10 : 1e-6;
  return kSafety * moved + unit * largest + 1e-7;
}

std::map<std::string, double> tolerances(const Outputs& meant,
                                         const std::vector<const Outputs*>& disturbed,
                                         std::string& undecided) {
  std::map<std::string, double> all;
  for (const auto& [name, numbers] : meant) {
    std::vector<const Numbers*> others;
    for (const Outputs* const other : disturbed) {
      others.push_back(&other->at(name));
    }
    all[name] = tolerance(numbers, others, undecided);
  }
  return all;
}

}  // namespace

Meant interpret(const Program& program) {
  Meant meant;
  const Run exact = Interpretation(program, 0, false).run();
  std::vector<Run> disturbed;
  for (std::uint64_t i = 0; i < kDisturbed; ++i) {
    disturbed.push_back(Interpretation(program, program.seed + i + 1, true).run());
    if (nearly_equal(exact.choices, disturbed.back().choices)) {
      meant.undecided = "a comparison of nearly equal numbers decides";
      return meant;
    }
  }
  meant.outcome = exact.outcome;
  const auto of = [&](const auto& part) {
    std::vector<const Outputs*> all;
    for (const Run& run : disturbed) {
      all.push_back(&part(run));
    }
    return all;
  };
  for (std::size_t r = 0; r < exact.outcome.rounds.size(); ++r) {
    meant.tolerances.emplace_back();
    for (std::size_t i = 0; i < exact.outcome.rounds[r].outputs.size(); ++i) {
      const auto part = [&](const Run& run) -> const Outputs& {
        return run.outcome.rounds[r].outputs[i];
      };
      meant.tolerances[r].push_back(tolerances(part(exact), of(part), meant.undecided));
    }
  }
  const auto left = [](const Run& run) -> const Outputs& { return run.outcome.left; };
  meant.left_tolerances = tolerances(left(exact), of(left), meant.undecided);
  return meant;
}

}  // namespace reprise::crossed
