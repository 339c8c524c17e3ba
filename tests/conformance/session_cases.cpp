// Cases that go through sessions: what a backend's encodings have to mean.
#include <numeric>

#include "tests/conformance/conformance.h"
#include "tests/session/tensor_values.h"

namespace reprise::testing {
namespace {

using Floats = std::vector<float>;

void require_equal(const Floats& expected, const Floats& actual, const std::string& what) {
  std::string text = what + ": expected";
  for (const float value : expected) {
    text += " " + std::to_string(value);
  }
  text += ", but got";
  for (const float value : actual) {
    text += " " + std::to_string(value);
  }
  require(expected == actual, text);
}

/// Runs `pass` over each of the inputs: as a session each, or as one graph that is replayed.
std::vector<Floats> outputs(const Device& device, Way way, const SessionOptions& options,
                            const std::vector<Floats>& inputs,
                            const std::function<void(GraphSession&, const Tensor&)>& pass,
                            const std::function<void(std::size_t)>& before = {}) {
  GraphExecutor executor(device);
  std::vector<Floats> all;
  std::optional<CapturedGraph> graph;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (before) {
      before(i);
    }
    if (graph) {
      graph->set_input("x", inputs[i]);
      graph->launch();
      all.push_back(graph->read("y"));
      continue;
    }
    auto s = way == Way::direct ? executor.begin(options) : executor.begin_recorded(options);
    pass(s, s.input("x", {static_cast<std::int64_t>(inputs[i].size())}, inputs[i]));
    FinishResult result = s.finish();
    all.push_back(result.read("y"));
    if (way == Way::recorded) {
      graph = std::move(result.graph);
    }
  }
  return all;
}

void a_chain_sees_what_was_written_before(const Device& device, Way way) {
  const std::vector<Floats> inputs{{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, 0, 1, 2}};
  const auto got = outputs(device, way, {}, inputs, [](GraphSession& s, const Tensor& x) {
    const Tensor one = s.input("one", {4}, Floats{1, 1, 1, 1});
    Tensor y = x;
    for (int i = 0; i < 20; ++i) {  // every link has a value of its own
      y = add(s, add(s, y, x), one);
    }
    s.output("y", y);
  });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Floats expected;
    for (const float value : inputs[i]) {
      expected.push_back(21 * value + 20);
    }
    require_equal(expected, got[i], "run " + std::to_string(i));
  }
}

void persistent_tensors_keep_what_is_written(const Device& device, Way way) {
  const Tensor table = device.zeros({3, 4}, DType::f32, "table");
  const StateBlock state(device, StateLayout().host("row"));
  const std::vector<Floats> inputs{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  outputs(
      device, way, {.state = state}, inputs,
      [&](GraphSession& s, const Tensor& x) {
        const Tensor row = reshape(s, x, {1, 4});
        set_rows(s, table, row, {.position = s.state("row")});
        s.output("y", add(s, x, x));
      },
      [&](std::size_t i) { state.set("row", static_cast<std::int32_t>(2 - i)); });
  require_equal({9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4}, device.to_host<float>(table), "table");
}

void state_changes_what_a_graph_does(const Device& device, Way way) {
  const Tensor table = device.from_host({4, 2}, Floats{0, 1, 10, 11, 20, 21, 30, 31}, "table");
  const StateBlock state(device, StateLayout().host("row"));
  const auto got = outputs(
      device, way, {.state = state}, {{1, 1}, {2, 2}, {3, 3}},
      [&](GraphSession& s, const Tensor& x) {
        const Tensor row = get_rows(s, table, s.state("row"));
        s.output("y", mul(s, reshape(s, row, {2}), x));
      },
      [&](std::size_t i) { state.set("row", static_cast<std::int32_t>(3 - i)); });
  require_equal({30, 31}, got[0], "row 3");
  require_equal({40, 42}, got[1], "row 2");
  require_equal({30, 33}, got[2], "row 1");
}

void iterations_stop_where_the_device_says(const Device& device, Way way) {
  constexpr std::int32_t kTokens = 8;
  Floats following(kTokens * kTokens);
  for (std::size_t t = 0; t < kTokens; ++t) {
    following[t * kTokens + (t + 1) % kTokens] = 1;
  }
  const Tensor table = device.from_host({kTokens, kTokens}, following, "following");
  const StateBlock state(device, StateLayout()
                                     .host("end", 5)
                                     .carried("pos", 0)
                                     .carried("token", 0)
                                     .carried("done", 0)
                                     .stop_when("done"));
  GraphExecutor executor(device);
  auto s = executor.begin_recorded({.state = state, .max_iterations = 16});
  const Tensor next = argmax(s, get_rows(s, table, s.state("token")));
  advance(s, next,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .end_token = s.state("end")});
  s.output("next", next);
  CapturedGraph graph = s.finish({.run = false}).graph;
  std::vector<std::int32_t> tokens;
  for (std::uint32_t launched = 0; launched < 16; launched += way == Way::direct ? 1 : 8) {
    const Ticket ticket = graph.launch_async({.iterations = way == Way::direct ? 1U : 8U});
    for (std::uint32_t i = 0; i < ticket.iterations(); ++i) {
      tokens.push_back(ticket.read<std::int32_t>("next", i)[0]);
    }
  }
  require(tokens == std::vector<std::int32_t>{1, 2, 3, 4, 5},
          std::to_string(tokens.size()) + " iterations ran instead of 5");
}

void extents_run_over_their_rows(const Device& device, Way way) {
  const StateBlock state(device, StateLayout().host("rows", 1));
  GraphExecutor executor(device);
  const Tensor w = device.from_host({2, 2}, Floats{1, 2, 3, 4}, "w");
  std::optional<CapturedGraph> graph;
  for (const std::int32_t rows : {3, 1, 0, 4, 2}) {
    Floats x(static_cast<std::size_t>(rows) * 2);
    std::iota(x.begin(), x.end(), 1.0F);
    Floats expected;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      expected.push_back(x[2 * r] * 1 + x[2 * r + 1] * 2);
      expected.push_back(x[2 * r] * 3 + x[2 * r + 1] * 4);
    }
    state.set("rows", rows);
    const SessionOptions options{.state = state, .extents = {{"rows", 4}}};
    const auto record = [&](GraphSession& s) {
      s.output("y", matmul(s, s.input("x", {s.extent("rows"), 2}, x), w));
    };
    if (way == Way::direct) {
      auto s = executor.begin(options);
      record(s);
      const FinishResult result = s.finish();
      if (rows > 0) {
        require_equal(expected, result.read("y"), std::to_string(rows) + " rows");
      }
      continue;
    }
    if (!graph) {
      auto s = executor.begin_recorded(options);
      record(s);
      graph = s.finish({.run = false}).graph;
    }
    graph->set_input("x", x);
    graph->launch();
    if (rows > 0) {
      require_equal(expected, graph->read("y"), std::to_string(rows) + " rows");
    } else {
      require(graph->iterations() == 0, "something ran over 0 rows");
    }
  }
}

void host_steps_run_between_the_steps_of_the_device(const Device& device, Way way) {
  const auto got =
      outputs(device, way, {}, {{4, 3, 2, 1}, {1, 3, 2, 0}}, [](GraphSession& s, const Tensor& x) {
        const Tensor sorted = host_step(s, "sort", {add(s, x, x)}, {TensorSpec({4}, DType::f32)},
                                        [](HostStepCall& call) {
                                          const auto in = call.input<float>(0);
                                          const auto out = call.output<float>(0);
                                          std::ranges::copy(in, out.begin());
                                          std::ranges::sort(out);
                                        })[0];
        s.output("y", mul(s, sorted, x));
      });
  require_equal({8, 12, 12, 8}, got[0], "first");
  require_equal({0, 6, 8, 0}, got[1], "second");
}

void launches_in_flight_keep_their_own_inputs(const Device& device, Way way) {
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {2}, Floats{0, 0});
  s.output("y", add(s, x, x));
  CapturedGraph graph =
      s.finish({.slots = way == Way::direct ? std::size_t{1} : std::size_t{4}}).graph;
  for (int round = 0; round < 4; ++round) {
    std::vector<Ticket> tickets;
    for (int i = 0; i < (way == Way::direct ? 1 : 4); ++i) {
      graph.set_input("x", Floats{static_cast<float>(i), static_cast<float>(round)});
      tickets.push_back(graph.launch_async());
    }
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      require_equal({2 * static_cast<float>(i), 2 * static_cast<float>(round)},
                    tickets[i].read("y"), "launch " + std::to_string(i));
    }
  }
}

void copies_and_sessions_are_in_order(const Device& device, Way way) {
  const Tensor a = device.from_host({2}, Floats{1, 2}, "a"), b = device.zeros({2}, DType::f32, "b");
  const auto got = outputs(
      device, way, {}, {{1, 1}, {1, 1}},
      [&](GraphSession& s, const Tensor& x) { s.output("y", add(s, b, x)); },
      [&](std::size_t i) {
        const Floats values{static_cast<float>(i), 7};
        device.write(TensorRef(a)->buffer, 0, std::as_bytes(std::span(values)));
        (void)device.copy_async(a, b);
      });
  require_equal({1, 8}, got[0], "first");
  require_equal({2, 8}, got[1], "second");
}

void an_error_leaves_the_device_working(const Device& device, Way way) {
  GraphExecutor executor(device);
  auto s = way == Way::direct ? executor.begin() : executor.begin_recorded();
  const Tensor x = s.input("x", {2}, Floats{1, 2});
  require_error(ErrorCode::invalid_argument, [&] {
    (void)add(s, x, s.input("z", {3}, Floats{1, 2, 3}));
  });
  const auto error = device.status().last_error;
  require(error && error->code == ErrorCode::invalid_argument, "its status does not say so");
  const auto got = outputs(device, way, {}, {{1, 2}}, [](GraphSession& next, const Tensor& y) {
    next.output("y", add(next, y, y));
  });
  require_equal({2, 4}, got[0], "the next session");
}

#define CASE(name) \
  ConformanceCase { #name, name }
constexpr ConformanceCase kSessionCases[] = {
    CASE(a_chain_sees_what_was_written_before),
    CASE(persistent_tensors_keep_what_is_written),
    CASE(state_changes_what_a_graph_does),
    CASE(iterations_stop_where_the_device_says),
    CASE(extents_run_over_their_rows),
    CASE(host_steps_run_between_the_steps_of_the_device),
    CASE(launches_in_flight_keep_their_own_inputs),
    CASE(copies_and_sessions_are_in_order),
    CASE(an_error_leaves_the_device_working),
};
#undef CASE

}  // namespace

std::span<const ConformanceCase> session_cases() { return kSessionCases; }

}  // namespace reprise::testing
