#include "tests/crossed/shrink.h"

#include <algorithm>

#include "tests/crossed/generate.h"
#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

/// The program without an op; uses of its result become uses of another value.
Program without_op(const Program& program, std::size_t op, int instead) {
  Program smaller = program;
  smaller.ops.erase(smaller.ops.begin() + static_cast<std::ptrdiff_t>(op));
  const int gone = kLeaves + static_cast<int>(op);
  const auto renamed = [&](int value) {
    return value == gone ? instead : value > gone ? value - 1 : value;
  };
  for (Op& other : smaller.ops) {
    std::ranges::transform(other.operands, other.operands.begin(), renamed);
  }
  std::erase(smaller.outputs, gone);
  std::ranges::transform(smaller.outputs, smaller.outputs.begin(), renamed);
  smaller.fed = smaller.fed == gone ? -1 : renamed(smaller.fed);
  return smaller;
}

class Shrinking {
 public:
  Shrinking(const Program& program, const std::function<bool(const Program&)>& fails, int attempts)
      : program_(program), fails_(fails), left_(attempts) {}

  Program result() {
    bool smaller = true;
    while (smaller && left_ > 0) {
      smaller = drop_rounds();
      smaller |= drop_outputs();
      smaller |= drop_ops();
      smaller |= simplify_ops();
      smaller |= simplify_rounds();
      smaller |= simplify_setup();
    }
    return program_;
  }

 private:
  bool accept(const Program& candidate) {
    if (candidate.outputs.empty() || !rounds_fit(candidate) || !types_of(candidate) || left_ <= 0) {
      return false;
    }
    --left_;
    if (!fails_(candidate)) {
      return false;
    }
    program_ = candidate;
    return true;
  }
  template <class F>
  bool with(F&& change) {
    Program candidate = program_;
    change(candidate);
    return accept(candidate);
  }

  bool drop_rounds() {
    bool any = false;
    for (std::size_t i = program_.rounds.size(); i-- > 0;) {
      any |= with(
          [&](Program& p) { p.rounds.erase(p.rounds.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
    return any;
  }
  bool drop_outputs() {
    bool any = false;
    // What is wrong first is often the only output that is needed.
    for (std::size_t i = 0; i < program_.ops.size() && program_.fed < 0; ++i) {
      const int result = kLeaves + static_cast<int>(i);
      const std::vector<int> alone{result};
      if (program_.outputs != alone &&
          (program_.outputs.size() > 1 || result < program_.outputs[0]) &&
          with([&](Program& p) { p.outputs = alone; })) {
        any = true;
        break;
      }
    }
    for (std::size_t i = program_.outputs.size(); i-- > 0;) {
      any |= with([&](Program& p) {
        if (p.outputs[i] == p.fed) {
          p.fed = -1;
        }
        p.outputs.erase(p.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
    return any;
  }
  bool drop_ops() {
    bool any = false;
    for (std::size_t i = program_.ops.size(); i-- > 0;) {
      bool dropped = false;
      std::vector<int> instead{program_.ops[i].operands[0]};
      for (int leaf = 0; leaf < kLeaves; ++leaf) {
        instead.push_back(leaf);
      }
      for (const int other : instead) {
        dropped = dropped || accept(without_op(program_, i, other));
      }
      any |= dropped;
    }
    return any;
  }
  bool simplify_ops() {
    bool any = false;
    for (std::size_t i = 0; i < program_.ops.size(); ++i) {
      for (std::size_t o = 0; o < 3; ++o) {
        if (o > 0 && program_.ops[i].operands[o] >= 0) {
          any |= with([&](Program& p) { p.ops[i].operands[o] = -1; });
        }
        if (program_.ops[i].operands[o] >= kLeaves) {
          any |= with([&](Program& p) { p.ops[i].operands[o] = id_of(Leaf::x); });
        }
        if (program_.ops[i].numbers[o] > 0) {
          any |= with([&](Program& p) { p.ops[i].numbers[o] = 0; });
        }
      }
    }
    return any;
  }
  bool simplify_rounds() {
    bool any = false;
    for (std::size_t i = 0; i < program_.rounds.size(); ++i) {
      const Round round = program_.rounds[i];
      const auto changed = [&](bool may, auto&& change) {
        any = (may && with([&](Program& p) { change(p.rounds[i]); })) || any;
      };
      changed(round.before != Between::nothing, [](Round& r) { r.before = Between::nothing; });
      changed(round.weights > 0, [](Round& r) { r.weights = 0; });
      changed(round.given != Given::nothing, [](Round& r) { r.given = Given::nothing; });
      changed(round.iterations > 1, [](Round& r) { r.iterations = 1; });
      changed(round.position >= 0, [](Round& r) { r.position = -1; });
      changed(round.how > How::direct && round.how < How::run,
              [](Round& r) { r.how = How::direct; });
      changed(round.how > How::run, [](Round& r) { r.how = How::run; });
    }
    return any;
  }
  bool simplify_setup() {
    const Setup& s = program_.setup;
    bool any = false;
    const auto changed = [&](bool may, auto&& change) {
      any = (may && with([&](Program& p) { change(p.setup); })) || any;
    };
    changed(s.watched, [](Setup& t) { t.watched = false; });
    changed(s.profiled && !s.watched, [](Setup& t) { t.profiled = false; });
    changed(s.timing != Timing::off, [](Setup& t) { t.timing = Timing::off; });
    changed(s.passes != Passes::none, [](Setup& t) { t.passes = Passes::none; });
    changed(s.threads > 1, [](Setup& t) { t.threads = 1; });
    changed(s.fast, [](Setup& t) { t.fast = false; });
    changed(s.serialize, [](Setup& t) { t.serialize = false; });
    changed(!s.mapped, [](Setup& t) { t.mapped = true; });
    changed(!s.replays, [](Setup& t) { t.replays = true; });
    changed(s.stops, [](Setup& t) { t.stops = false; });
    changed(s.in_flight > 1, [](Setup& t) { t.in_flight = 1; });
    changed(s.placed_experts, [](Setup& t) { t.placed_experts = t.cpu_misses = false; });
    changed(s.two_executors, [](Setup& t) { t.two_executors = false; });
    changed(s.other_threads, [](Setup& t) { t.other_threads = false; });
    changed(s.tiny_arena, [](Setup& t) { t.tiny_arena = false; });
    changed(s.padded, [](Setup& t) { t.padded = false; });
    changed(s.cpu_misses, [](Setup& t) { t.cpu_misses = false; });
    changed(s.joined_host_steps, [](Setup& t) { t.joined_host_steps = false; });
    changed(s.handles != Handles::device, [](Setup& t) { t.handles = Handles::device; });
    any = (s.extent && with([](Program& p) {
             p.setup.extent = p.setup.padded = false;
             for (Round& round : p.rounds) {
               round.rows = p.setup.bucket;
             }
           })) ||
          any;
    any = (s.executable && with([](Program& p) {
             p.setup.executable = p.setup.placed_experts = p.setup.cpu_misses = false;
             for (Round& round : p.rounds) {
               round.how = How::launched;
               round.before = Between::nothing;
               round.given = round.given == Given::table ? Given::nothing : round.given;
             }
           })) ||
          any;
    return any;
  }

  Program program_;
  const std::function<bool(const Program&)>& fails_;
  int left_;
};

}  // namespace

Program shrink(const Program& program, const std::function<bool(const Program&)>& fails,
               int attempts) {
  return Shrinking(program, fails, attempts).result();
}

}  // namespace reprise::crossed
