// What the graph tests share: the brute-force oracle for barriers, and a random forward pass.
// The oracle looks at every pair of steps and knows nothing of the tracker.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "framework/graph/hazards.h"
#include "reprise/graph/execution_plan.h"
#include "tests/testing.h"

namespace reprise::testing {

using Rng = std::mt19937_64;
inline std::uint64_t pick(Rng& rng, std::uint64_t n) { return rng() % n; }
inline bool one_in(Rng& rng, std::uint64_t n) { return pick(rng, n) == 0; }

using Touches = std::vector<Touch>;

inline bool conflict(const Touch& a, const Touch& b) {
  return (writes(a.access) || writes(b.access)) && a.range.buffer == b.range.buffer &&
         std::max(a.range.begin, b.range.begin) < std::min(a.range.end, b.range.end);
}

inline bool depends(const Touches& earlier, const Touches& later) {
  return std::ranges::any_of(earlier, [&](const Touch& a) {
    return std::ranges::any_of(later, [&](const Touch& b) { return conflict(a, b); });
  });
}

/// Every two steps that must not run at once, and what follows for a set of barriers.
class BarrierOracle {
 public:
  explicit BarrierOracle(const std::vector<Touches>& steps) : count_(steps.size()) {
    for (std::size_t dst = 0; dst < steps.size(); ++dst) {
      for (std::size_t src = 0; src < dst; ++src) {
        if (depends(steps[src], steps[dst])) {
          pairs_.push_back({src, dst});
        }
      }
    }
  }

  /// Pairs without a barrier in (src, dst].
  std::size_t uncovered(const std::vector<Barrier>& barriers) const {
    const std::vector<std::size_t> until = prefix(barriers);
    return static_cast<std::size_t>(
        std::ranges::count_if(pairs_, [&](const Pair& p) { return until[p.dst] == until[p.src]; }));
  }

  /// Barriers without which every pair is still covered.
  std::size_t removable(const std::vector<Barrier>& barriers) const {
    const std::vector<std::size_t> until = prefix(barriers);
    std::vector<char> needed(barriers.size(), 0);  // in order of their steps
    for (const Pair& p : pairs_) {
      if (until[p.dst] == until[p.src] + 1) {
        needed[until[p.src]] = 1;
      }
    }
    return static_cast<std::size_t>(std::ranges::count(needed, 0));
  }

  /// Barriers whose cause is no pair.
  std::size_t without_cause(const std::vector<Barrier>& barriers) const {
    return static_cast<std::size_t>(std::ranges::count_if(barriers, [&](const Barrier& b) {
      return std::ranges::none_of(
          pairs_, [&](const Pair& p) { return p.src == b.cause_src && p.dst == b.before_step; });
    }));
  }

  /// No set of barriers can be smaller: one for each of the most pairs with disjoint (src, dst].
  std::size_t min() const {
    std::size_t disjoint = 0, end = 0;
    for (const Pair& p : pairs_) {  // in order of dst
      if (p.src >= end) {
        ++disjoint;
        end = p.dst;
      }
    }
    return disjoint;
  }

 private:
  struct Pair {
    std::size_t src, dst;
  };
  /// Barriers before or at each step.
  std::vector<std::size_t> prefix(const std::vector<Barrier>& barriers) const {
    std::vector<std::size_t> until(count_, 0);
    for (const Barrier& b : barriers) {
      ++until[b.before_step];
    }
    for (std::size_t i = 1; i < count_; ++i) {
      until[i] += until[i - 1];
    }
    return until;
  }
  std::size_t count_;
  std::vector<Pair> pairs_;
};

/// Persistent tensors of a random pass; make a new set for every run, because passes write `table`.
struct RandomWeights {
  RandomWeights(const Device& device, std::uint64_t seed)
      : rng(seed),
        norm(make(device, {kCols}, 0.5, 1.5, "norm")),
        square(make(device, {kCols, kCols}, -0.25, 0.25, "square")),
        wide(make(device, {2 * kCols, kCols}, -0.25, 0.25, "wide")),
        patch(make(device, {1, kCols}, -1, 1, "patch")),
        table(make(device, {kTableRows, kCols}, -1, 1, "table")),
        widen(make(device, {kCols, kNarrow}, -0.5, 0.5, "widen")),
        keys(make(device, {kTableRows, 1, kCols / kHeads}, -1, 1, "keys", DType::f16)),
        values(make(device, {kTableRows, 1, kCols / kHeads}, -1, 1, "values", DType::f16)),
        state(device, StateLayout().host("row", 3).carried("token").carried("count").derived(
                          "next", field("row") + 5)) {}

  static constexpr std::int64_t kCols = 16, kNarrow = 7, kHeads = 2, kTableRows = 32;
  Rng rng;
  Tensor norm, square, wide, patch, table, widen, keys, values;
  StateBlock state;

  /// What passes leave in persistent memory, by name.
  std::map<std::string, std::vector<std::byte>> left(const Device& device) const {
    std::map<std::string, std::vector<std::byte>> bytes;
    bytes["table"] = device.to_host(table);
    bytes["keys"] = device.to_host(keys);
    bytes["values"] = device.to_host(values);
    bytes["patch"] = device.to_host(patch);
    for (const char* carried : {"token", "count"}) {
      const std::int32_t value = state.get(carried);
      const auto raw = std::as_bytes(std::span(&value, 1));
      bytes[carried] = {raw.begin(), raw.end()};
    }
    return bytes;
  }

 private:
  Tensor make(const Device& device, const Shape& shape, double low, double high,
              const std::string& name, DType dtype = DType::f32) {
    return device.from_host(shape, dtype, random_bytes(rng, dtype, shape.elements(), low, high),
                            name);
  }
};

/// All ops over recent tensors: views at offsets, strided ones and empty ones, writes in place to
/// transients, views of them, inputs, tables and state, several outputs, parts that nobody reads.
/// Equal seeds record equal passes.
class RandomPass {
 public:
  RandomPass(GraphSession& session, const RandomWeights& weights, std::uint64_t seed,
             bool host_steps = true)
      : s_(session),
        w_(weights),
        rng_(seed),
        window_(1 + pick(rng_, 10)),
        host_steps_(host_steps) {}

  /// Returns the names of the outputs.
  std::vector<std::string> record(std::size_t ops) {
    add_input();
    for (std::size_t i = 0; i < ops; ++i) {
      add_op();
      if (one_in(rng_, 10)) {
        add_output(any());
      }
    }
    add_output(any());
    return outputs_;
  }

 private:
  static constexpr std::int64_t kCols = RandomWeights::kCols;
  struct Item {
    Tensor tensor;          // [rows, kCols]
    bool in_table = false;  // a view of the table: not to be scattered into it
  };

  Item any() { return recent_[pick(rng_, recent_.size())]; }

  void keep(Tensor tensor, bool in_table = false) {
    if (recent_.size() < window_) {
      recent_.push_back({std::move(tensor), in_table});
    } else {
      recent_[pick(rng_, window_)] = {std::move(tensor), in_table};
    }
  }

  void add_input() {
    const auto rows = static_cast<std::int64_t>(1 + pick(rng_, 6));
    keep(s_.input("x" + std::to_string(inputs_++), {rows, kCols}, DType::f32,
                  random_bytes(rng_, DType::f32, rows * kCols, -1, 1)));
  }

  void add_output(const Item& item) {
    if (item.tensor.spec().contiguous()) {
      outputs_.push_back("y" + std::to_string(outputs_.size()));
      s_.output(outputs_.back(), item.tensor);
    }
  }

  /// Most ops want contiguous operands.
  Tensor dense(const Tensor& a) { return a.spec().contiguous() ? a : copy(s_, a); }
  Tensor rows_of(const Tensor& a) { return reshape(s_, a, {a.shape().elements() / kCols, kCols}); }

  void add_op() {
    const Item item = any();
    const Tensor& a = item.tensor;
    switch (pick(rng_, 3)) {
      case 0:
        return a.shape().dim(0) == 0 ? add_input() : add_writer(item);
      case 1:
        return add_view(item);
      default:
        return keep(computed(a));
    }
  }

  Tensor computed(const Tensor& a) {
    const Tensor b = any().tensor;
    const bool alike = a.shape() == b.shape();
    switch (pick(rng_, 11)) {
      case 0:
        return matmul(s_, a, w_.square);
      case 8:
        return add(s_, matmul(s_, a, w_.square), w_.norm);
      case 9:
        return siblings(a);
      case 1:
        return mul(s_, a, w_.norm);
      case 2:
        return silu_mul(s_, matmul(s_, a, w_.wide));
      case 3:
        return silu_mul(s_, a, alike ? b : a);
      case 4:
        return add(s_, a, alike ? b : w_.norm);
      case 5:
        return mul(s_, rms_norm(s_, a, {}), alike ? b : a);
      case 6:
        return narrow(a);
      case 7:
        return cast(s_, cast(s_, dense(a), DType::f16), DType::f32);
      default:
        return rms_norm(s_, a, w_.norm);
    }
  }

  /// Products of one tensor, and sometimes what writes it between them.
  Tensor siblings(const Tensor& a) {
    Tensor product = matmul(s_, a, w_.square);
    for (auto i = pick(rng_, 3); i < 3; ++i) {
      if (one_in(rng_, 4) && a.shape().dim(0) > 0 && a.spec().contiguous()) {
        set_rows(s_, a, w_.patch, {.position = 0});
      }
      const Tensor wide = matmul(s_, a, w_.wide);
      product = add(s_, product, slice(s_, wide, 1, one_in(rng_, 2) ? 0 : kCols, kCols));
    }
    return product;
  }

  /// Rows of another size, that no vector divides.
  Tensor narrow(const Tensor& a) {
    constexpr std::int64_t kWidth = RandomWeights::kNarrow;
    const Tensor left = copy(s_, slice(s_, a, 1, 0, kWidth));
    const Tensor right = slice(s_, a, 1, kCols - kWidth, kWidth);
    return matmul(s_, silu_mul(s_, add(s_, left, right), right), w_.widen);
  }

  void add_view(const Item& item) {
    const Tensor& a = item.tensor;
    const std::int64_t rows = a.shape().dim(0);
    switch (pick(rng_, 5)) {
      case 0: {  // two strided views of one result
        const Tensor wide = matmul(s_, a, w_.wide);
        const Tensor right = slice(s_, wide, 1, kCols, kCols);
        return keep(one_in(rng_, 2) ? right : add(s_, slice(s_, wide, 1, 0, kCols), right));
      }
      case 1: {  // sometimes empty
        const auto first =
            static_cast<std::int64_t>(pick(rng_, static_cast<std::uint64_t>(rows) + 1));
        return one_in(rng_, 4) || first < rows
                   ? keep(slice(s_, a, 0, first, rows - first), item.in_table)
                   : keep(rms_norm(s_, a, w_.norm));
      }
      case 2:
        return keep(reshape(s_, copy(s_, permute(s_, a, {1, 0})), {rows, kCols}));
      case 3:
        return read_table();
      default:
        return add_input();
    }
  }

  /// What writes other memory than its result: in place, in tables, in the state.
  void add_writer(const Item& item) {
    const Tensor& a = item.tensor;
    switch (pick(rng_, 8)) {
      case 0:
        return item.in_table ? read_table()
                             : set_rows(s_, w_.table, a, {.position = s_.state("row")});
      case 1:
        return item.in_table ? read_table()
                             : set_rows(s_, w_.table, a, {.position = 9, .window = 16});
      case 2:
        return patch(a);
      case 3:
        return patch(slice(s_, a, 0, a.shape().dim(0) - 1, 1));
      case 4:
        return attend(a);
      case 5:
        return keep(get_rows(s_, w_.table, argmax(s_, a)));
      case 6:
        return one_in(rng_, 4) ? count(a) : (void)mul(s_, rms_norm(s_, a, {}), a);  // dead
      default:
        return one_in(rng_, 6) && host_steps_ ? halve(item) : patch(a);
    }
  }

  void read_table() {
    const auto first = static_cast<std::int64_t>(pick(rng_, RandomWeights::kTableRows - 6));
    if (one_in(rng_, 2)) {
      keep(slice(s_, w_.table, 0, first, static_cast<std::int64_t>(1 + pick(rng_, 6))), true);
    } else {
      keep(get_rows(s_, w_.table, s_.state(one_in(rng_, 2) ? "next" : "token")));
    }
  }

  void patch(const Tensor& a) {
    const auto row =
        static_cast<std::int32_t>(pick(rng_, static_cast<std::uint64_t>(a.shape().dim(0))));
    set_rows(s_, dense(a), w_.patch, {.position = row});
  }

  void attend(const Tensor& a) {
    const std::int64_t rows = a.shape().dim(0);
    const auto row = s_.state("row");
    const Tensor heads = rope(
        s_, reshape(s_, dense(a), {rows, RandomWeights::kHeads, kCols / RandomWeights::kHeads}),
        {.position = row});
    set_rows(s_, w_.keys, slice(s_, heads, 1, 0, 1), {.position = row});
    set_rows(s_, w_.values, slice(s_, heads, 1, 1, 1), {.position = row});
    keep(rows_of(attention(s_, heads, w_.keys, w_.values, {.kv_len = s_.state("next")})));
  }

  /// The state moves on.
  void count(const Tensor& a) {
    advance(s_, argmax(s_, slice(s_, a, 0, 0, 1)),
            {.position = s_.state("count"), .token = s_.state("token")});
  }

  void halve(const Item& item) {
    const auto half = [](HostStepCall& call) {
      std::ranges::transform(call.input<float>(0), call.output<float>(0).begin(),
                             [](float x) { return x / 2; });
      for (float& x : call.in_place<float>()) {
        x = -x;
      }
    };
    const Tensor a = dense(item.tensor);
    keep(host_step(s_, "half", {a}, {TensorSpec(a.shape(), DType::f32)}, half, w_.patch)[0]);
  }

  GraphSession& s_;
  const RandomWeights& w_;
  Rng rng_;
  std::size_t window_;
  bool host_steps_;
  std::size_t inputs_ = 0;
  std::vector<Item> recent_;
  std::vector<std::string> outputs_;
};

}  // namespace reprise::testing
