#include "tests/crossed/generate.h"

#include <algorithm>
#include <random>

#include "tests/crossed/types.h"

namespace reprise::crossed {
namespace {

constexpr int kTrials = 300;      // to find operands for an op
constexpr std::size_t kOps = 21;  // at most, and one more where nothing else can be an output

constexpr std::array kSessionHows{How::direct,   How::parts,  How::submitted, How::captured,
                                  How::launched, How::async,  How::prefix,    How::cached,
                                  How::keyed,    How::loaded, How::rebound,   How::pooled};
constexpr std::array kExecutableHows{How::run, How::submit, How::prepared, How::pipelined};
constexpr std::array kWeights{Leaf::w, Leaf::w_half, Leaf::w_blocks, Leaf::embedding, Leaf::table};
constexpr std::array kRowTables{Leaf::embedding, Leaf::embedding_half, Leaf::w_blocks, Leaf::table};
// What is seldom possible, and crosses most.
constexpr std::array kOften{OpKind::set_rows, OpKind::accumulate, OpKind::slice};
constexpr std::array kViews{OpKind::slice, OpKind::permute, OpKind::permute, OpKind::reshape};
constexpr std::array kWritten{Leaf::table,  Leaf::keys, Leaf::values,
                              Leaf::halves, Leaf::x,    Leaf::y};

class Generator {
 public:
  Generator(std::uint64_t seed, Where where) : rng_(seed) {
    program_.seed = seed;
    program_.setup.where = where;
  }

  Program program() {
    make_setup();
    for (int leaf = 0; leaf < kLeaves; ++leaf) {
      types_.push_back(type_of(static_cast<Leaf>(leaf), program_.setup));
    }
    const int count = 4 + any(12);
    if (feeds_) {
      remember();
    }
    for (int i = 0; i < count; ++i) {
      if (chance(15)) {
        add_pattern();
      } else if (chance(20)) {
        add_op(one_of(kOften));
      } else {
        add_op(static_cast<OpKind>(any(kOpKinds)));
      }
    }
    choose_outputs();
    if (swaps(program_)) {
      program_.setup.stops = false;
    }
    make_rounds();
    return program_;
  }

 private:
  int any(int below) { return static_cast<int>(rng_() % static_cast<unsigned>(below)); }
  bool chance(int percent) { return any(100) < percent; }
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& all) {
    return all[static_cast<std::size_t>(any(static_cast<int>(N)))];
  }

  void make_setup() {
    Setup& s = program_.setup;
    s.mapped = chance(60);
    s.replays = chance(85);
    s.threads = s.where == Where::cpu ? 1 + any(3) : 1;
    s.fast = chance(20);
    s.serialize = chance(15);
    s.passes = chance(30) ? Passes::exact : static_cast<Passes>(any(6));
    s.timing = static_cast<Timing>(any(4));
    s.profiled = chance(20);
    s.watched = s.profiled && chance(50);
    s.executable = chance(30);
    s.extent = chance(40);
    constexpr std::array kBuckets{1, 3, 4};
    s.bucket = s.extent ? 5 : one_of(kBuckets);
    s.in_flight = 1 + any(3);
    s.feed = static_cast<Feed>(any(2));
    s.handles = static_cast<Handles>(any(3));
    s.placed_experts = s.executable && chance(70);
    s.cpu_misses = s.placed_experts && !s.extent && chance(30);
    s.joined_host_steps = chance(30);
    iterates_ = chance(35) && !s.cpu_misses;
    feeds_ = (!iterates_ || s.executable) && chance(s.executable ? 60 : 20);
    s.stops = chance(30);
    s.two_executors = !s.executable && chance(25);
    s.other_threads = chance(25);
    s.tiny_arena = chance(30);
    s.padded = s.extent && chance(40);
  }

  int value() {
    const int results = static_cast<int>(program_.ops.size());
    if (results == 0 || chance(35)) {
      return any(kLeaves);
    }
    return kLeaves + std::max(results - 1 - any(chance(60) ? 4 : results), 0);
  }
  static int operands_of(OpKind kind) {
    switch (kind) {
      case OpKind::binary:
      case OpKind::set_rows:
      case OpKind::concat:
      case OpKind::custom:
      case OpKind::accumulate:
      case OpKind::matmul:
        return 2;
      case OpKind::attention:
        return 3;
      default:
        return 1;
    }
  }

  Op random_op(OpKind kind) {
    Op op;
    op.kind = kind;
    for (int i = 0; i < operands_of(kind); ++i) {
      op.operands[static_cast<std::size_t>(i)] = value();
    }
    op.numbers = {any(8), any(8), 0};
    constexpr std::array kStarts{0, 1, 4, 8, 16};
    constexpr std::array kLengths{1, 2, 8, 16, 24};
    switch (kind) {
      case OpKind::binary:
        op.numbers[0] = any(4);
        break;
      case OpKind::gated:
      case OpKind::scalar:
        op.numbers = {any(3), any(2), 0};
        op.operands[1] = kind == OpKind::gated && chance(50) ? value() : -1;
        break;
      case OpKind::matmul:
        op.operands[0] = chance(50) ? id_of(chance(50) ? Leaf::x : Leaf::y) : op.operands[0];
        op.operands[1] = chance(80) ? id_of(one_of(kWeights)) : value();
        op.operands[2] = chance(40) ? value() : -1;
        break;
      case OpKind::rms_norm:
        op.operands[1] = chance(40) ? id_of(Leaf::norm) : chance(20) ? value() : -1;
        break;
      case OpKind::softmax:
      case OpKind::experts:
        op.numbers[0] = any(2);
        if (kind == OpKind::experts) {
          op.operands = {op.operands[0], id_of(Leaf::router), id_of(Leaf::experts), -1};
        }
        break;
      case OpKind::attention:
        op.numbers[0] = any(4);
        if (chance(90)) {
          const bool halves = chance(40);
          op.operands[1] = id_of(halves ? Leaf::halves : Leaf::keys);
          op.operands[2] = id_of(halves ? Leaf::halves : Leaf::values);
        }
        op.operands[3] = chance(30) ? id_of(Leaf::mask) : -1;
        break;
      case OpKind::rope:
        op.numbers = {any(4), any(2), 0};
        op.operands[1] = static_cast<Place>(op.numbers[0]) == Place::ids ? id_of(Leaf::ids) : -1;
        break;
      case OpKind::set_rows:
        op.numbers = {any(4), any(kTable), 0};
        op.operands[0] = chance(70) ? id_of(one_of(kWritten)) : value();
        if (static_cast<Place>(op.numbers[0]) == Place::ids) {
          op.operands[2] = id_of(chance(50) ? Leaf::ids : Leaf::picks);
        }
        break;
      case OpKind::get_rows:
        op.numbers[0] = any(4);
        op.operands[0] = chance(70) ? id_of(one_of(kRowTables)) : value();
        if (static_cast<RowField>(op.numbers[0]) == RowField::ids) {
          op.operands[1] = chance(60) ? id_of(chance(50) ? Leaf::ids : Leaf::picks) : value();
        }
        break;
      case OpKind::accumulate:
        if (chance(30)) {
          op.operands = {id_of(chance(50) ? Leaf::norm : Leaf::gains), id_of(Leaf::notes), -1, -1};
        }
        break;
      case OpKind::cast:
      case OpKind::concat:
      case OpKind::permute:
        op.numbers[0] = any(3);
        break;
      case OpKind::repeat:
        op.numbers[0] = 2;
        break;
      case OpKind::pad:
        op.numbers = {any(3), any(3), 0};
        break;
      case OpKind::reduce:
      case OpKind::reshape:
        op.numbers[0] = any(4);
        break;
      case OpKind::slice:
        op.numbers = {any(3), one_of(kStarts), one_of(kLengths)};
        break;
      default:
        break;
    }
    return op;
  }

  bool add(const Op& op, std::size_t limit = kOps) {
    const std::optional<Type> type = infer(op, types_, program_);
    if (!type || program_.ops.size() >= limit) {
      return false;
    }
    program_.ops.push_back(op);
    types_.push_back(*type);
    return true;
  }
  int last() const { return static_cast<int>(types_.size()) - 1; }

  void add_op(OpKind kind) {
    if (kind == OpKind::host_step && iterates_) {
      return;
    }
    if (kind == OpKind::advance) {
      add_advance();
      return;
    }
    if (kind == OpKind::attention || kind == OpKind::rope || kind == OpKind::set_rows) {
      for (int trial = 0; trial < 20; ++trial) {
        if (add({OpKind::reshape, {value(), -1, -1, -1}, {static_cast<int>(Form::heads)}})) {
          break;
        }
      }
    }
    if (kind == OpKind::set_rows && chance(15)) {
      add({OpKind::reshape, {id_of(Leaf::notes), -1, -1, -1}, {static_cast<int>(Form::row)}});
      Op op = random_op(kind);
      op.operands[0] = last();
      op.operands[1] = chance(50) ? id_of(Leaf::x) : id_of(Leaf::memory);
      op.numbers = {static_cast<int>(chance(50) ? Place::position : Place::constant), 0, 0};
      if (add(op)) {
        return;
      }
    }
    if (chance(20)) {
      try_to_add(one_of(kViews), 20);
    }
    try_to_add(kind, kTrials);
  }
  void try_to_add(OpKind kind, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      if (add(random_op(kind))) {
        return;
      }
    }
  }

  /// Ops in a row that a pass may make one of.
  void add_pattern() {
    const std::size_t before = program_.ops.size();
    constexpr std::array kFirst{OpKind::matmul, OpKind::matmul, OpKind::binary, OpKind::rope};
    const OpKind first = one_of(kFirst);
    add_op(first);
    if (program_.ops.size() == before || program_.ops.back().kind != first) {
      return;
    }
    const Op made = program_.ops.back();
    const int result = last();
    for (int trial = 0; trial < kTrials; ++trial) {
      Op next;
      if (first == OpKind::rope) {
        next = random_op(OpKind::set_rows);
        next.operands[0] = id_of(chance(50)   ? Leaf::keys
                                 : chance(50) ? Leaf::values
                                              : Leaf::halves);
        next.operands[1] = result;
      } else if (first == OpKind::binary) {
        next = random_op(OpKind::rms_norm);
        next.operands[0] = result;
      } else if (chance(50)) {
        next = random_op(OpKind::matmul);
        next.operands[0] = made.operands[0];
      } else {
        next = {OpKind::binary, {result, value(), -1, -1}, {}};
      }
      if (add(next)) {
        return;
      }
    }
  }

  void add_advance() {
    for (int trial = 0; trial < kTrials; ++trial) {
      if (add({OpKind::get_rows, {value(), -1, -1, -1}, {static_cast<int>(RowField::last)}})) {
        if (add({OpKind::argmax, {last(), -1, -1, -1}})) {
          add({OpKind::advance, {last(), -1, -1, -1}});
        }
        return;
      }
    }
  }

  /// A value that the next round finds in `memory`, made of what that was.
  void remember() {
    Op op{OpKind::binary, {id_of(Leaf::memory), id_of(Leaf::gains), -1, -1}, {any(2)}};
    add(op);
    add({OpKind::unary, {last(), -1, -1, -1}, {5}});
  }

  void choose_outputs() {
    std::vector<bool> used(types_.size());
    for (const Op& op : program_.ops) {
      for (const int operand : op.operands) {
        if (operand >= 0) {
          used[static_cast<std::size_t>(operand)] = true;
        }
      }
    }
    std::vector<int>& outputs = program_.outputs;
    std::vector<int> fed;
    for (int id = kLeaves; id <= last(); ++id) {
      const Type& type = types_[static_cast<std::size_t>(id)];
      if (may_be_output(type) && (!used[static_cast<std::size_t>(id)] || chance(15))) {
        outputs.push_back(id);
      }
      if (may_be_fed(type)) {
        fed.push_back(id);
      }
    }
    for (const Leaf leaf : {Leaf::table, Leaf::keys, Leaf::halves, Leaf::notes}) {
      if (used[static_cast<std::size_t>(leaf)] && chance(program_.setup.executable ? 50 : 30)) {
        outputs.push_back(id_of(leaf));
      }
    }
    if (feeds_ && !fed.empty()) {
      program_.fed = fed[static_cast<std::size_t>(any(static_cast<int>(fed.size())))];
      if (std::ranges::find(outputs, program_.fed) == outputs.end()) {
        outputs.push_back(program_.fed);
      }
    }
    if (outputs.empty()) {
      add({OpKind::copy, {id_of(Leaf::x), -1, -1, -1}}, kOps + 1);
      outputs.push_back(last());
    }
  }

  void make_rounds() {
    const int count = 2 + any(3);
    while (static_cast<int>(program_.rounds.size()) < count) {
      const Setup& setup = program_.setup;
      Round round;
      round.how = setup.executable ? one_of(kExecutableHows) : one_of(kSessionHows);
      round.seed = rng_() % 1000000;
      round.rows = setup.extent ? any(setup.bucket + 1) : setup.bucket;
      round.iterations = iterates_ && runs_iterations(round.how) ? 1 + any(3) : 1;
      round.number = any(kTable);
      round.factor = 1 + any(15);
      round.position = round.rows > 0 && chance(50) ? any(24) : -1;
      if (chance(50)) {
        round.before = static_cast<Between>(any(kBetweens));
      }
      round.weights = chance(20)                ? any(3)
                      : program_.rounds.empty() ? 0
                                                : program_.rounds.back().weights;
      round.given = chance(25) ? static_cast<Given>(1 + any(2)) : Given::nothing;
      program_.rounds.push_back(round);
      if (!rounds_fit(program_)) {
        program_.rounds.pop_back();
      }
    }
  }

  std::mt19937_64 rng_;
  Program program_;
  std::vector<Type> types_;
  bool iterates_ = false, feeds_ = false;
};

}  // namespace

Program generate(std::uint64_t seed, Where where) { return Generator(seed, where).program(); }

}  // namespace reprise::crossed
