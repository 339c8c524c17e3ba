#include "tests/ops/case_run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>

#include "framework/session/record/plan_pass.h"
#include "reprise/session/saved_graphs.h"
#include "reprise/session/support.h"
#include "tests/ops/poisoned_arena.h"
#include "tests/profile/recorded_graphs.h"

namespace reprise::testing {
namespace {

constexpr std::uint64_t kGuardBytes = 256;
constexpr std::byte kGuard{0xA5};

using Draw = std::function<std::vector<std::byte>(std::mt19937_64&)>;

std::vector<std::byte> draw_ids(std::mt19937_64& rng, DType dtype, std::int64_t count,
                                std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(high - low));
  std::iota(all.begin(), all.end(), low);
  std::shuffle(all.begin(), all.end(), rng);
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = all[static_cast<std::size_t>(i) % all.size()];
    const auto narrow = static_cast<std::int32_t>(value);
    const auto* data = dtype == DType::i64 ? reinterpret_cast<const std::byte*>(&value)
                                           : reinterpret_cast<const std::byte*>(&narrow);
    bytes.insert(bytes.end(), data, data + info_of(dtype).block_bytes);
  }
  return bytes;
}

class Context final : public CaseContext {
 public:
  Context(const Device& device, GraphSession& session, std::uint64_t seed)
      : device_(device), session_(session), rng_(seed) {}
  /// Of a session that nobody runs: drawing values would take longer than planning.
  Context(const Device& device, GraphSession& session)
      : device_(device), session_(session), draws_(false) {}

  Recorder& recorder() override { return session_; }
  Tensor input(const Shape& shape, DType dtype, double low, double high) override {
    return add_input(shape, dtype, [=](std::mt19937_64& rng) {
      return random_bytes(rng, dtype, shape.elements(), low, high);
    });
  }
  Tensor ids(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high) override {
    return add_input(shape, dtype, [=](std::mt19937_64& rng) {
      return draw_ids(rng, dtype, shape.elements(), low, high);
    });
  }
  Tensor integers(const Shape& shape, const std::vector<std::int32_t>& values) override {
    return add_words(shape, DType::i32, values);
  }
  Tensor floats(const Shape& shape, const std::vector<std::int32_t>& bits) override {
    return add_words(shape, DType::f32, bits);
  }
  Tensor persistent(const Shape& shape, DType dtype) override {
    const TensorSpec spec(shape, dtype);
    const auto buffer =
        device_.backend().allocate("guarded", spec.bytes() + 2 * kGuardBytes, BufferKind::device);
    guarded_.push_back({buffer, spec});
    write(guarded_.back());
    const std::string name = "guarded" + std::to_string(guarded_.size());
    tensors_.emplace(name, Tensor::over(buffer, spec, kGuardBytes, name));
    return tensors_.at(name);
  }
  /// The persistent ones, by name.
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }

  /// Fresh values for another replay.
  void redraw(CapturedGraph& graph, std::uint64_t seed) {
    rng_.seed(seed);
    std::size_t next_input = 0;
    std::size_t next_guarded = 0;
    for (const bool is_input : order_) {
      if (is_input) {
        const auto& [name, dtype, draw] = inputs_[next_input++];
        graph.set_input(name, dtype, draw(rng_));
      } else {
        write(guarded_[next_guarded++], false);
      }
    }
  }
  void check_guards() const {
    for (const Guarded& g : guarded_) {
      for (const std::uint64_t at : {std::uint64_t{0}, kGuardBytes + g.spec.bytes()}) {
        std::vector<std::byte> band(kGuardBytes);
        device_.read(g.buffer, at, band);
        EXPECT_TRUE(std::ranges::all_of(band, [](std::byte b) { return b == kGuard; }))
            << "bytes beside a tensor were written";
      }
    }
  }

 private:
  struct Input {
    std::string name;
    DType dtype;
    Draw draw;
  };
  struct Guarded {
    std::shared_ptr<Buffer> buffer;
    TensorSpec spec;
  };
  Tensor add_words(const Shape& shape, DType dtype, const std::vector<std::int32_t>& words) {
    return add_input(shape, dtype, [words](std::mt19937_64&) {
      const auto bytes = std::as_bytes(std::span(words));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
  }
  Tensor add_input(const Shape& shape, DType dtype, Draw draw) {
    const std::string name = "in" + std::to_string(inputs_.size());
    const std::vector<std::byte> bytes =
        draws_ ? draw(rng_) : std::vector<std::byte>(TensorSpec(shape, dtype).bytes());
    inputs_.push_back({name, dtype, std::move(draw)});
    order_.push_back(true);
    return session_.input(name, shape, dtype, bytes);
  }
  void write(const Guarded& g, bool fresh = true) {
    if (!draws_) {
      return;
    }
    std::vector<std::byte> bytes(g.spec.bytes() + 2 * kGuardBytes, kGuard);
    const auto content = random_bytes(rng_, g.spec.dtype, g.spec.shape.elements(), -1, 1);
    std::ranges::copy(content, bytes.begin() + kGuardBytes);
    device_.write(g.buffer, 0, bytes);
    if (fresh) {
      order_.push_back(false);
    }
  }

  const Device& device_;
  GraphSession& session_;
  std::mt19937_64 rng_;
  bool draws_ = true;
  std::vector<Input> inputs_;
  std::vector<Guarded> guarded_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::vector<bool> order_;  // true: the next input, false: the next guarded tensor
};

StateBlock make_state(const Device& device, const OpCase& row) {
  if (row.state.empty() && row.carried.empty()) {
    return {};
  }
  StateLayout layout;
  for (const auto& [name, values] : row.state) {
    layout.host(name, values.front());
  }
  for (const auto& [name, initial] : row.carried) {
    layout.carried(name, initial);
  }
  return {device, layout};
}

std::size_t run_count(const OpCase& row) {
  return row.state.empty() ? row.runs : row.state.front().second.size();
}

void set_state(const StateBlock& state, const OpCase& row, std::size_t run) {
  for (const auto& [name, values] : row.state) {
    state.set(name, values[run]);
  }
}

template <class Readable>
std::vector<CaseOutput> collect(const Readable& from, const std::vector<Tensor>& tensors,
                                const StateBlock& state) {
  std::vector<CaseOutput> outputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    outputs.push_back(
        {tensors[i].dtype(), from.template read<std::byte>("out" + std::to_string(i))});
  }
  if (state) {
    std::vector<std::int32_t> words;
    for (const StateFieldInfo& field : state.layout().fields()) {
      words.push_back(state.get(field.name));
    }
    const auto bytes = std::as_bytes(std::span(words));
    outputs.push_back({DType::i32, {bytes.begin(), bytes.end()}});
  }
  return outputs;
}

std::vector<Tensor> build(const OpCase& row, Context& context, GraphSession& session) {
  std::vector<Tensor> tensors = row.build(context);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    session.output("out" + std::to_string(i), tensors[i]);
  }
  return tensors;
}

}  // namespace

CaseOutputs run_case(const Device& device, const OpCase& row, bool recorded, std::uint64_t seed) {
  GraphExecutor executor(device);
  const StateBlock state = make_state(device, row);
  CaseOutputs outputs;
  set_state(state, row, 0);
  if (!recorded) {
    for (std::size_t run = 0; run < run_count(row); ++run) {
      set_state(state, row, run);
      auto session = executor.begin({.name = row.label, .state = state});
      Context context(device, session, seed + run);
      const std::vector<Tensor> tensors = build(row, context, session);
      const FinishResult result = session.finish();
      outputs.push_back(collect(result, tensors, state));
      context.check_guards();
    }
    wait_idle(device);
    return outputs;
  }
  auto session = executor.begin_recorded({.name = row.label, .state = state});
  Context context(device, session, seed);
  const std::vector<Tensor> tensors = build(row, context, session);
  const CapturePool pool(device);
  FinishResult result = session.finish({.pool = pool});
  outputs.push_back(collect(result, tensors, state));
  const PoisonedArena arena(device, pool, result.graph);
  for (std::size_t run = 1; run < run_count(row); ++run) {
    set_state(state, row, run);
    context.redraw(result.graph, seed + run);
    arena.poison();
    result.graph.launch();
    outputs.push_back(collect(result.graph, tensors, state));
    arena.expect_nothing_beside_tensors();
  }
  context.check_guards();
  wait_idle(device);
  return outputs;
}

CaseOutputs run_saved_case(const Device& device, const OpCase& row, std::uint64_t seed) {
  const test::TempFolder folder;
  GraphExecutor executor(device);
  const StateBlock state = make_state(device, row);
  set_state(state, row, 0);
  auto session = executor.begin_recorded({.name = row.label, .state = state});
  Context context(device, session, seed);
  const std::vector<Tensor> tensors = build(row, context, session);
  session.finish({.run = false}).graph.save(folder / "graph");
  LoadedGraph loaded =
      executor.load_graph(folder / "graph", {.tensors = context.tensors(), .state = state});
  EXPECT_FALSE(loaded.report.replanned) << loaded.report.reason;
  CaseOutputs outputs;
  for (std::size_t run = 0; run < run_count(row); ++run) {
    set_state(state, row, run);
    if (run > 0) {
      context.redraw(loaded.graph, seed + run);
    }
    loaded.graph.launch();
    outputs.push_back(collect(loaded.graph, tensors, state));
  }
  wait_idle(device);
  return outputs;
}

std::vector<NodeSupport> support_of_case(const Device& device, const OpCase& row) {
  GraphExecutor executor(device);
  const StateBlock state = make_state(device, row);
  return supports(executor,
                  [&](GraphSession& session) {
                    Context context(device, session);
                    build(row, context, session);
                  },
                  {.state = state});
}

std::vector<FingerprintPart> plan_of_case(const Device& device, const OpCase& row) {
  GraphExecutor executor(device);
  const StateBlock state = make_state(device, row);
  const PassPlan planned = plan_pass(executor.core(),
                                     [&](GraphSession& session) {
                                       Context context(device, session);
                                       build(row, context, session);
                                     },
                                     {.state = state});
  return fingerprint_of(*planned.execution, {}, [](const Kernel&) { return ""; });
}

void expect_close(const CaseOutputs& expected, const CaseOutputs& actual, const OpCase& row) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t run = 0; run < expected.size(); ++run) {
    ASSERT_EQ(expected[run].size(), actual[run].size());
  }
  for (std::size_t i = 0; i < expected.front().size(); ++i) {
    // Of all runs together: what one run adds up may cancel to almost nothing, its rounding stays.
    std::vector<double> e, a;
    for (std::size_t run = 0; run < expected.size(); ++run) {
      const CaseOutput& is = actual[run][i];
      const CaseOutput& should = expected[run][i];
      if (row.nmse_limit == 0 || should.dtype == DType::i32) {
        EXPECT_TRUE(should == is) << "bits differ in run " << run << ", output " << i;
        continue;
      }
      ASSERT_EQ(should.bytes.size(), is.bytes.size());
      std::ranges::copy(to_doubles(should.dtype, should.bytes), std::back_inserter(e));
      std::ranges::copy(to_doubles(is.dtype, is.bytes), std::back_inserter(a));
    }
    EXPECT_LE(nmse(e, a), row.nmse_limit) << "output " << i << "; limit because of " << row.why;
  }
}

}  // namespace reprise::testing
