#include "tests/crossed/features.h"

#include <algorithm>
#include <set>

#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

struct Axis {
  const char* name;
  std::vector<const char*> values;
  bool several = false;  // a program may have several of them, and pairs of them count
};

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all{
      {"op", {kOpNames.begin(), kOpNames.end()}, true},
      {"view", {"sliced", "permuted", "reshaped"}},
      {"pattern", {"residual", "bias", "add_rms_norm", "rope_set_rows", "matmul_group"}, true},
      {"write", {"table", "keys", "values", "halves", "notes", "input", "result", "nothing"}, true},
      {"weights", {"f32", "f16", "q8_0"}, true},
      {"state",
       {"pos", "length", "last", "number", "token", "factor", "gains", "picks", "notes"},
       true},
      {"device", {"cpu", "portable", "lanes", "gpu"}},
      {"memory", {"mapped", "copied"}},
      {"replays", {"yes", "no"}},
      {"threads", {"one", "two", "three"}},
      {"precision", {"exact", "fast"}},
      {"barriers", {"needed", "all"}},
      {"passes", {"none", "dead_nodes", "reorder", "in_place", "fuse", "exact"}},
      {"timing", {"off", "replay", "node", "node_serialised"}},
      {"profile", {"none", "written", "watched"}},
      {"rows", {"fixed", "none", "some", "full"}, true},
      {"iterations", {"one", "two", "three"}, true},
      {"stop", {"never", "field"}},
      {"how", {kHowNames.begin(), kHowNames.end()}, true},
      {"before", {kBetweenNames.begin(), kBetweenNames.end()}, true},
      {"in flight", {"one", "two", "three"}},
      {"feed", {"none", "by host", "copy", "swap", "in_place"}, true},
      {"handles", {"none", "device", "host", "bound"}},
      {"experts", {"none", "plain", "placed", "on the cpu"}},
      {"given", {"nothing", "memory", "table"}, true},
      {"weights change", {"no", "yes"}},
      {"executors", {"one", "two"}},
      {"callers", {"one thread", "threads"}},
      {"arena", {"usual", "tiny"}},
      {"inputs", {"of the rows", "padded"}},
  };
  return all;
}

Feature feature(std::string_view axis, std::size_t value) {
  Feature first = 0;
  for (const Axis& other : axes()) {
    if (other.name == axis) {
      return first + value;
    }
    first += other.values.size();
  }
  return first;
}

const Axis& axis_of(Feature feature) {
  for (const Axis& axis : axes()) {
    if (feature < axis.values.size()) {
      return axis;
    }
    feature -= axis.values.size();
  }
  return axes().back();
}

/// Collects the features of a program.
class Features {
 public:
  explicit Features(const Program& program) : program_(program), types_(types_of(program).value()) {
    of_ops();
    of_setup();
    for (const Round& round : program.rounds) {
      of_round(round);
    }
  }

  std::vector<Pair> pairs() const {
    std::vector<Pair> pairs;
    for (auto a = features_.begin(); a != features_.end(); ++a) {
      for (auto b = std::next(a); b != features_.end(); ++b) {
        const Axis &first = axis_of(*a), &second = axis_of(*b);
        const bool op_and_view =
            std::string_view(first.name) == "op" && std::string_view(second.name) == "view";
        if ((&first != &second || first.several) && !op_and_view) {
          pairs.emplace_back(*a, *b);
        }
      }
    }
    pairs.insert(pairs.end(), views_.begin(), views_.end());
    return pairs;
  }

 private:
  void add(std::string_view axis, std::size_t value) { features_.insert(feature(axis, value)); }
  void add_if(bool has, std::string_view axis, std::size_t value) {
    if (has) {
      add(axis, value);
    }
  }

  void of_ops() {
    bool writes = false;
    for (const Op& op : program_.ops) {
      const auto kind = static_cast<std::size_t>(op.kind);
      add("op", kind);
      for (const int operand : op.operands) {
        if (operand >= kLeaves) {
          of_view(kind, program_.ops[static_cast<std::size_t>(operand - kLeaves)].kind);
        }
        for (std::size_t i = 0; i < 3; ++i) {
          add_if(operand == id_of(Leaf::w) + static_cast<int>(i), "weights", i);
          add_if(operand == id_of(Leaf::gains) + static_cast<int>(i), "state", 6 + i);
        }
      }
      const int written = written_by(op);
      if (written >= 0) {
        of_write(types_[static_cast<std::size_t>(written)].storage);
        writes = true;
      }
      of_state(op);
      of_patterns(op);
    }
    add_if(!writes, "write", 7);
    const bool placed = program_.setup.placed_experts;
    add("experts", !program_.has(OpKind::experts) ? 0
                   : placed                       ? (program_.setup.cpu_misses ? 3 : 2)
                                                  : 1);
  }
  void of_view(std::size_t op, OpKind of) {
    constexpr std::array kViews{OpKind::slice, OpKind::permute, OpKind::reshape};
    const auto* const found = std::ranges::find(kViews, of);
    if (found != kViews.end()) {
      const auto view = static_cast<std::size_t>(found - kViews.begin());
      add("view", view);
      views_.insert({feature("op", op), feature("view", view)});
    }
  }
  /// Where one op reads what another makes, and a pass may make one call of both.
  void of_patterns(const Op& op) {
    const auto made_by = [&](int operand, OpKind kind) {
      return operand >= kLeaves &&
             program_.ops[static_cast<std::size_t>(operand - kLeaves)].kind == kind;
    };
    const bool adds = op.kind == OpKind::binary && op.numbers[0] == 0;
    if (adds && made_by(op.operands[0], OpKind::matmul)) {
      const bool row = types_[static_cast<std::size_t>(op.operands[1])].rank == 1;
      add("pattern", row ? 1 : 0);
    }
    if (op.kind == OpKind::rms_norm && made_by(op.operands[0], OpKind::binary)) {
      const int sum = op.operands[0] - kLeaves;
      add_if(program_.ops[static_cast<std::size_t>(sum)].numbers[0] == 0, "pattern", 2);
    }
    add_if(op.kind == OpKind::set_rows && made_by(op.operands[1], OpKind::rope), "pattern", 3);
    const auto same = std::ranges::count_if(program_.ops, [&](const Op& other) {
      return other.kind == OpKind::matmul && other.operands[0] == op.operands[0];
    });
    add_if(op.kind == OpKind::matmul && same > 1, "pattern", 4);
  }
  void of_write(int storage) {
    constexpr std::array kWritten{Leaf::table,  Leaf::keys,  Leaf::values,
                                  Leaf::halves, Leaf::notes, Leaf::x};
    for (std::size_t i = 0; i < kWritten.size(); ++i) {
      add_if(storage == id_of(kWritten[i]), "write", i);
    }
    add_if(storage == id_of(Leaf::y), "write", 5);
    add_if(storage >= kLeaves, "write", 6);
  }
  void of_state(const Op& op) {
    const auto place = static_cast<Place>(op.numbers[0]);
    const auto row = static_cast<RowField>(op.numbers[0]);
    const auto keys = static_cast<KeyCount>(op.numbers[0]);
    const bool placed = op.kind == OpKind::set_rows || op.kind == OpKind::rope;
    const bool moves = place == Place::position || place == Place::ring;
    add_if((placed && moves) || (op.kind == OpKind::attention && keys == KeyCount::past) ||
               op.kind == OpKind::advance,
           "state", 0);
    add_if(op.kind == OpKind::attention && keys == KeyCount::length, "state", 1);
    add_if(op.kind == OpKind::get_rows && row == RowField::last, "state", 2);
    add_if(op.kind == OpKind::get_rows && row == RowField::number, "state", 3);
    add_if((op.kind == OpKind::get_rows && row == RowField::token) || op.kind == OpKind::advance,
           "state", 4);
    add_if((op.kind == OpKind::scalar && op.numbers[1] != 0) ||
               (op.kind == OpKind::softmax && op.numbers[0] != 0) || op.kind == OpKind::accumulate,
           "state", 5);
  }
  void of_setup() {
    const Setup& s = program_.setup;
    add("device", static_cast<std::size_t>(s.where));
    add("memory", s.mapped ? 0 : 1);
    add("replays", s.replays ? 0 : 1);
    add_if(s.where == Where::cpu, "threads", static_cast<std::size_t>(s.threads - 1));
    add("precision", s.fast ? 1 : 0);
    add("barriers", s.serialize ? 1 : 0);
    add("passes", static_cast<std::size_t>(s.passes));
    add("timing", static_cast<std::size_t>(s.timing));
    add("profile", s.watched ? 2 : s.profiled ? 1 : 0);
    add("stop", s.stops && program_.has(OpKind::advance) ? 1 : 0);
    add("in flight", static_cast<std::size_t>(s.in_flight - 1));
    add("feed", program_.fed < 0 ? 0 : !s.executable ? 1 : s.feed == Feed::copy ? 2 : 3);
    for (const int output : program_.outputs) {
      add_if(s.executable && output < kLeaves && may_be_written(output, s) &&
                 output != id_of(Leaf::notes) &&
                 std::ranges::count(program_.ops, output, written_by) > 0,
             "feed", 4);
    }
    const bool changes = std::ranges::any_of(program_.rounds, [&](const Round& round) {
      return round.weights != program_.rounds.front().weights;
    });
    add("weights change", changes ? 1 : 0);
    add("executors", s.two_executors ? 1 : 0);
    add("callers", s.other_threads ? 1 : 0);
    add("arena", s.tiny_arena ? 1 : 0);
    add("inputs", s.padded ? 1 : 0);
    add("handles", s.executable ? 1 + static_cast<std::size_t>(s.handles) : 0);
  }
  void of_round(const Round& round) {
    add("how", static_cast<std::size_t>(round.how));
    add("before", static_cast<std::size_t>(round.before));
    add("given", static_cast<std::size_t>(round.given));
    add("iterations", static_cast<std::size_t>(round.iterations - 1));
    add("rows", !program_.setup.extent               ? 0
                : round.rows == 0                    ? 1
                : round.rows < program_.setup.bucket ? 2
                                                     : 3);
  }

  const Program& program_;
  std::vector<Type> types_;
  std::set<Feature> features_;
  std::set<Pair> views_;
};

}  // namespace

std::size_t feature_count() {
  std::size_t count = 0;
  for (const Axis& axis : axes()) {
    count += axis.values.size();
  }
  return count;
}

std::string feature_name(Feature feature) {
  for (const Axis& axis : axes()) {
    if (feature < axis.values.size()) {
      return std::string(axis.name) + ": " + axis.values[feature];
    }
    feature -= axis.values.size();
  }
  return "";
}

std::vector<Pair> pairs_of(const Program& program) { return Features(program).pairs(); }

PairTable::PairTable() : counts_(feature_count() * feature_count()) {}

std::uint32_t PairTable::at(const Pair& pair) const {
  return counts_[pair.first * feature_count() + pair.second];
}

void PairTable::add(const Program& program) {
  for (const Pair& pair : pairs_of(program)) {
    ++counts_[pair.first * feature_count() + pair.second];
  }
}

std::size_t PairTable::new_pairs(const Program& program) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pairs_of(program), [&](const Pair& pair) { return at(pair) == 0; }));
}

std::vector<std::string> PairTable::never_met() const {
  std::vector<std::string> never;
  for (Feature a = 0; a < feature_count(); ++a) {
    for (Feature b = a + 1; b < feature_count(); ++b) {
      const bool of_one_axis = &axis_of(a) == &axis_of(b) && !axis_of(a).several;
      if (at({a, b}) == 0 && !of_one_axis && why_never(a, b).empty()) {
        never.push_back(feature_name(a) + " and " + feature_name(b));
      }
    }
  }
  return never;
}

std::vector<std::string> PairTable::met_against_reason() const {
  std::vector<std::string> met;
  for (Feature a = 0; a < feature_count(); ++a) {
    for (Feature b = a + 1; b < feature_count(); ++b) {
      if (at({a, b}) != 0 && !why_never(a, b).empty()) {
        met.push_back(feature_name(a) + " and " + feature_name(b) + ": " + why_never(a, b));
      }
    }
  }
  return met;
}

std::string PairTable::summary() const {
  std::size_t met = 0, never = never_met().size();
  Pair rarest{0, 1};
  std::uint32_t min = 0xFFFFFFFF;
  for (Feature a = 0; a < feature_count(); ++a) {
    for (Feature b = a + 1; b < feature_count(); ++b) {
      const std::uint32_t count = at({a, b});
      met += count > 0 ? 1 : 0;
      if (count > 0 && count < min) {
        min = count;
        rarest = {a, b};
      }
    }
  }
  return std::to_string(feature_count()) + " features, " + std::to_string(met) + " pairs met, " +
         std::to_string(never) + " never; the rarest, " + std::to_string(min) +
         " times: " + feature_name(rarest.first) + " and " + feature_name(rarest.second);
}

}  // namespace reprise::crossed
