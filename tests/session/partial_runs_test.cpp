// The first nodes of a graph, and single ones: they leave the values that a direct session of the
// same ops has for its outputs.
#include "framework/core/op.h"
#include "framework/graph/structure_hash.h"
#include "reprise/formats/gguf.h"
#include "reprise/session/partial_run.h"
#include "samples/llama/generate.h"
#include "tests/session/random_ops.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using Values = std::vector<float>;

class PartialRuns : public ::testing::TestWithParam<std::string> {
 protected:
  /// What `record` hands over, one tensor per node, as a direct session computes them.
  template <class F>
  std::vector<Bytes> of_direct_session(SessionOptions options, const F& record) {
    auto s = executor_.begin(std::move(options));
    const std::vector<Tensor> all = record(s);
    for (std::size_t i = 0; i < all.size(); ++i) {
      s.output(std::to_string(i), all[i]);
    }
    const FinishResult result = s.finish();
    std::vector<Bytes> values;
    for (std::size_t i = 0; i < all.size(); ++i) {
      values.push_back(result.read<std::byte>(std::to_string(i)));
    }
    return values;
  }
  template <class F>
  CapturedGraph graph_of(SessionOptions options, const F& record) {
    auto s = executor_.begin_recorded(std::move(options));
    s.output("last", record(s).back());
    return s.finish({.run = false}).graph;
  }
  /// The nodes of a graph that have results.
  static std::vector<std::uint32_t> nodes_with_results(const CapturedGraph& graph) {
    std::vector<std::uint32_t> nodes;
    const ComputeGraph& g = graph.graph();
    for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
      if (!g.nodes[n].op->results.empty()) {
        nodes.push_back(n);
      }
    }
    return nodes;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  Values x_{1, 2, 3, 4};
};
INSTANTIATE_TEST_SUITE_P(On, PartialRuns, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(PartialRuns, OfARandomGraphLeaveWhatADirectSessionComputes) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 data(seed);
  constexpr std::int64_t kSize = 24;
  const Bytes x = random_bytes(data, DType::f32, kSize * kSize, -1, 1);
  const Tensor w = device_.from_host({kSize, kSize}, DType::f32,
                                     random_bytes(data, DType::f32, kSize * kSize, -0.2, 0.2), "w");
  const auto record = [&](GraphSession& s) {
    const Tensor first = add(s, s.input("x", {kSize, kSize}, DType::f32, x), w);
    return record_random_ops(s, seed, first, w, 24, [&](const Tensor& a) {
      return host_step(s, "halve", {a}, {TensorSpec({kSize, kSize}, DType::f32)},
                       [](HostStepCall& call) {
                         std::ranges::transform(call.input<float>(0), call.output<float>(0).begin(),
                                                [](float v) { return v / 2; });
                       })[0];
    });
  };
  const std::vector<Bytes> expected = of_direct_session({}, record);
  CapturedGraph graph = graph_of({}, record);
  std::size_t gone = 0;
  for (std::uint32_t n = 0; n < expected.size(); ++n) {
    const PartialRun run = graph.run_prefix(n);
    EXPECT_EQ(run.read<std::byte>(n, 0), expected[n]) << "node " << n;
    for (std::uint32_t earlier = 0; earlier < n; ++earlier) {
      try {
        EXPECT_EQ(run.read<std::byte>(earlier, 0), expected[earlier]) << earlier << " after " << n;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("uses its memory"), std::string::npos);
        ++gone;
      }
    }
  }
  EXPECT_GT(gone, 0U);  // some memory is used again
  for (std::uint32_t n = 0; n < expected.size(); ++n) {
    EXPECT_EQ(graph.run_node(n).read<std::byte>(n, 0), expected[n]) << "node " << n << " alone";
  }
  graph.launch();
  EXPECT_EQ(graph.read<std::byte>("last"), expected.back());
}

TEST_P(PartialRuns, OfALlamaLayerLeaveWhatADirectSessionComputes) {
  const GgufFile file = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-f16.gguf");
  const llama::Model m = llama::load_model(device_, file, 64);
  const StateBlock state(device_, llama::state_layout(2, 64));
  state.set("token", 7);
  const auto record = [&](GraphSession& s) {
    const llama::Layer& w = m.layers[0];
    std::vector<Tensor> all;
    const auto keep = [&](const Tensor& y) {
      all.push_back(y);
      return y;
    };
    const auto heads = [&](const Tensor& y, std::int64_t n) {
      return reshape(s, y, {1, n, m.sizes.head_dim});
    };
    const RopeAttributes rotation{.position = s.state("pos"),
                                  .base = m.sizes.rope_base,
                                  .dims = static_cast<std::int32_t>(m.sizes.rope_dims)};
    const Tensor x = keep(get_rows(s, m.embedding, s.state("token")));
    const Tensor h = keep(rms_norm(s, x, w.attn_norm, {.eps = m.sizes.eps}));
    const Tensor q = keep(rope(s, heads(keep(matmul(s, h, w.wq)), m.sizes.heads), rotation));
    const Tensor k = keep(rope(s, heads(keep(matmul(s, h, w.wk)), m.sizes.kv_heads), rotation));
    const Tensor v = keep(matmul(s, h, w.wv));
    set_rows(s, w.k_cache, k, {.position = s.state("pos")});
    set_rows(s, w.v_cache, heads(v, m.sizes.kv_heads), {.position = s.state("pos")});
    const Tensor y = keep(attention(s, q, w.k_cache, w.v_cache, {.kv_len = s.state("kv_len")}));
    const Tensor o = keep(matmul(s, reshape(s, y, {1, m.sizes.heads * m.sizes.head_dim}), w.wo));
    const Tensor a = keep(add(s, x, o));
    const Tensor f = keep(rms_norm(s, a, w.ffn_norm, {.eps = m.sizes.eps}));
    const Tensor up = keep(matmul(s, f, w.up));
    const Tensor gate = keep(matmul(s, f, w.gate));
    const Tensor g = keep(silu_mul(s, gate, up));
    keep(add(s, a, keep(matmul(s, g, w.down))));
    return all;
  };
  const std::vector<Bytes> expected = of_direct_session({.state = state}, record);
  CapturedGraph graph = graph_of({.state = state}, record);
  const std::vector<std::uint32_t> nodes = nodes_with_results(graph);
  ASSERT_EQ(nodes.size(), expected.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(graph.run_prefix(nodes[i]).read<std::byte>(nodes[i], 0), expected[i])
        << describe_node(graph.graph(), nodes[i]);
  }
}

TEST_P(PartialRuns, SendInputsAndState) {
  StateLayout layout;
  layout.host("row", 0);
  const StateBlock state(device_, layout);
  const Tensor table = device_.from_host({2, 2}, x_, "table");
  CapturedGraph graph = graph_of({.state = state}, [&](GraphSession& s) {
    const Tensor row = get_rows(s, table, s.state("row"));
    return std::vector<Tensor>{row, add(s, row, s.input("x", {1, 2}, Values{0, 0}))};
  });
  graph.set_state("row", 1);
  graph.set_input("x", Values{10, 20});
  const PartialRun run = graph.run_prefix(1);
  EXPECT_EQ(run.read(0, 0), (Values{3, 4}));
  EXPECT_EQ(run.read(1, 0), (Values{13, 24}));
  EXPECT_EQ(run.read(run.result_of(1, 0)), (Values{13, 24}));
}

TEST_P(PartialRuns, MoveCarriedStateOnAndLeavePatchesToTheFirstNode) {
  StateLayout layout;
  layout.carried("position");
  const StateBlock state(device_, layout);
  CapturedGraph graph = graph_of({.state = state}, [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    const Tensor y = add(s, x, x);
    advance(s, s.input("next", {1}, std::vector<std::int32_t>{1}),
            {.position = s.state("position")});
    return std::vector<Tensor>{y};
  });
  state.set("position", 5);  // node 0 applies it, node 2 moves it on
  (void)graph.run_node(1);
  (void)graph.run_node(2);
  EXPECT_EQ(state.get("position"), 1);
  (void)graph.run_prefix(2);
  EXPECT_EQ(state.get("position"), 6);
  graph.launch();
  EXPECT_EQ(state.get("position"), 7);
}

TEST_P(PartialRuns, AreNoReplays) {
  CapturedGraph graph = graph_of({}, [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    return std::vector<Tensor>{add(s, x, x)};
  });
  (void)graph.run_prefix(0);
  (void)graph.run_node(0);
  EXPECT_EQ(graph.num_replays(), 0U);
}

TEST_P(PartialRuns, AreReadableUntilTheGraphRunsAgain) {
  CapturedGraph graph = graph_of({}, [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    return std::vector<Tensor>{add(s, x, x)};
  });
  const PartialRun run = graph.run_prefix(0);
  EXPECT_EQ(run.read(0, 0), (Values{2, 4, 6, 8}));
  graph.launch();
  expect_error(ErrorCode::invalid_argument, {"ran again"}, [&] { (void)run.read(0, 0); });
}

TEST_P(PartialRuns, OfWhatThereIsNotAreErrors) {
  const auto scaled = [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    Tensor y = add(s, x, x);
    for (int i = 0; i < 4; ++i) {
      y = mul(s, y, x);
    }
    return std::vector<Tensor>{y};
  };
  CapturedGraph graph = graph_of({}, scaled);
  expect_error(ErrorCode::invalid_argument, {"no node (5)", "it has 5"},
               [&] { (void)graph.run_prefix(5); });
  expect_error(ErrorCode::invalid_argument, {"no node (7)"}, [&] { (void)graph.run_node(7); });
  const PartialRun some = graph.run_prefix(1);
  expect_error(ErrorCode::invalid_argument, {"computed by op 3", "ran (1)"},
               [&] { (void)some.read(3, 0); });
  expect_error(ErrorCode::invalid_argument, {"no tensor (99)"}, [&] { (void)some.read(99); });
  expect_error(ErrorCode::invalid_argument, {"no result (1) of op 0 add"},
               [&] { (void)some.read(0, 1); });
  expect_error(ErrorCode::invalid_argument, {"result (0)", "no op 9"},
               [&] { (void)some.read(9, 0); });
  expect_error(ErrorCode::invalid_argument, {"is gone: op ", "mul", "partial_runs_test.cpp"},
               [&] { (void)graph.run_prefix(4).read(0, 0); });
}

TEST_P(PartialRuns, OfStridedViewsNameTheTensorToRead) {
  CapturedGraph graph = graph_of({}, [&](GraphSession& s) {
    const Tensor x = s.input("x", {2, 2}, x_);
    const Tensor y = add(s, x, x);
    return std::vector<Tensor>{copy(s, permute(s, y, {1, 0}))};
  });
  const PartialRun run = graph.run_prefix(0);
  const auto& tensors = graph.graph().tensors;
  int found = 0;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].spec.contiguous()) {
      ++found;
      expect_error(ErrorCode::invalid_argument, {"strided view", "read tensor"},
                   [&] { (void)run.read(t); });
      EXPECT_EQ(run.read(tensors[t].alias_of), (Values{2, 4, 6, 8}));
    }
  }
  EXPECT_EQ(found, 1);
}

TEST_P(PartialRuns, OfIterationsAreRefused) {
  StateLayout layout;
  layout.carried("position");
  CapturedGraph graph =
      graph_of({.state = StateBlock(device_, layout), .max_iterations = 4}, [&](GraphSession& s) {
        const Tensor x = s.input("x", {4}, x_);
        return std::vector<Tensor>{add(s, x, x)};
      });
  expect_error(ErrorCode::invalid_argument, {"up to (4) iterations"},
               [&] { (void)graph.run_prefix(0); });
}

}  // namespace
}  // namespace reprise::testing
