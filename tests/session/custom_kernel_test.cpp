// Kernels of the caller's own are nodes like any other: of direct sessions, of graphs, with
// barriers, a memory plan, state, profiles and checks.
#include <thread>

#include "framework/profile/profile_reader.h"
#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"
#include "reprise/session/partial_run.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/custom_kernels.h"
#include "tests/session/tensor_values.h"

namespace reprise::testing {
namespace {

class CustomKernels : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::int64_t kCount = 1003;  // no multiple of a workgroup
  Values random() { return random_values(rng_, kCount); }
  Tensor input(GraphSession& s, std::string_view name, const Values& values) {
    return s.input(name, {kCount}, values);
  }
  static Values combined(const Values& x, const Values& w, float (*f)(float, float)) {
    Values y(x.size());
    std::ranges::transform(x, w, y.begin(), f);
    return y;
  }
  /// (x + w) * w
  static Values expected(const Values& x, const Values& w) {
    return combined(combined(x, w, [](float a, float b) { return a + b; }), w,
                    [](float a, float b) { return a * b; });
  }
  void record(GraphSession& s, const Values& x, const Tensor& w) {
    s.output("y", call(s, product_, call(s, sum_, input(s, "x", x), w), w));
  }
  bool on_host() const { return device_.backend().traits().runs_on_host; }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const CustomKernel sum_ = sum_kernel(device_), product_ = product_kernel(device_);
  const Values w_values_ = random();
  const Tensor w_ = device_.from_host({kCount}, w_values_, "w");
};
INSTANTIATE_TEST_SUITE_P(On, CustomKernels, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(CustomKernels, GiveTheSameBitsDirectRecordedAndReplayed) {
  const Values x = random();
  auto direct = executor_.begin();
  record(direct, x, w_);
  EXPECT_EQ(direct.finish().read("y"), expected(x, w_values_));
  auto recorded = executor_.begin_recorded();
  record(recorded, x, w_);
  FinishResult finished = recorded.finish();
  EXPECT_EQ(finished.read("y"), expected(x, w_values_));
  for (int i = 0; i < 3; ++i) {
    const Values next = random();
    finished.graph.set_input("x", next);
    finished.graph.launch();
    EXPECT_EQ(finished.graph.read("y"), expected(next, w_values_));
  }
}

TEST_P(CustomKernels, WaitForEachOtherWhereOneReadsWhatTheOtherWrote) {
  auto s = executor_.begin_recorded();
  const Tensor x = input(s, "x", random());
  const Tensor chained = call(s, product_, call(s, sum_, x, w_), w_);
  const Tensor apart = call(s, sum_, x, x);
  s.output("chained", chained);
  s.output("apart", apart);
  const FinishResult finished = s.finish();
  EXPECT_EQ(finished.report.steps, 3U);
  EXPECT_EQ(finished.report.barriers, 1U);
}

TEST_P(CustomKernels, SeeTheStateOfEachReplay) {
  const CustomKernel kernel = accumulate_kernel(device_);
  const StateBlock state(device_, StateLayout().host("unused").host_f32("factor", 2));
  const Values x = random();
  Values total = random();
  const Tensor kept = device_.from_host({kCount}, total, "total");
  const auto add_scaled = [&](float factor) {
    for (std::size_t i = 0; i < total.size(); ++i) {
      const volatile float scaled = x[i] * factor;
      total[i] += scaled;
    }
  };
  auto s = executor_.begin_recorded({.state = state});
  const Tensor in = input(s, "x", x);
  accumulate(s, kernel, in, kept, s.state("factor"));
  accumulate(s, kernel, in, kept, 0.5F);
  CapturedGraph graph = s.finish().graph;
  add_scaled(2);
  add_scaled(0.5F);
  EXPECT_EQ(device_.to_host<float>(kept), total);
  for (const float factor : {-1.5F, 3.25F}) {
    graph.set_state("factor", factor);
    graph.launch();
    add_scaled(factor);
    add_scaled(0.5F);
    EXPECT_EQ(device_.to_host<float>(kept), total);
  }
}

TEST_P(CustomKernels, OfSkippedIterationsWriteNothing) {
  const CustomKernel kernel = accumulate_kernel(device_);
  const StateBlock state(
      device_,
      StateLayout().carried("pos", 0).carried("token", 0).carried("done", 0).stop_when("done"));
  const Values ones(kCount, 1);
  const Tensor kept = device_.zeros({kCount}, DType::f32, "total");
  auto s = executor_.begin_recorded({.state = state, .max_iterations = 8});
  accumulate(s, kernel, input(s, "x", ones), kept, 1.0F);
  const Tensor end = device_.from_host({1}, std::vector<std::int32_t>{7}, "end");
  advance(s, end,
          {.position = s.state("pos"),
           .token = s.state("token"),
           .done = s.state("done"),
           .end_token = 7});
  CapturedGraph graph = s.finish({.run = false}).graph;
  graph.launch({.iterations = 8});
  EXPECT_EQ(device_.to_host<float>(kept), ones) << "the first iteration says that it is the last";
}

TEST_P(CustomKernels, ShareTheArena) {
  auto s = executor_.begin_recorded();
  Tensor x = input(s, "x", random());
  for (int i = 0; i < 6; ++i) {
    x = call(s, sum_, x, w_);
  }
  s.output("y", x);
  const FinishReport report = s.finish().report;
  const std::uint64_t one = kCount * sizeof(float);
  EXPECT_GE(report.arena_bytes, 3 * one);
  EXPECT_LT(report.arena_bytes, 4 * one + 4 * kStorageAlignment) << "of 7 tensors";
}

TEST_P(CustomKernels, StayWhileSessionsAndGraphsUseThem) {
  const Values x = random();
  CapturedGraph graph;
  Ticket ticket;
  std::weak_ptr<const CustomOp> alive;
  {
    const CustomKernel kernel = device_.compile_kernel(
        elementwise_source("dropped", "x[i] - w[i]", [](float a, float b) { return a - b; }),
        elementwise_interface());
    alive = kernel.op().weak_from_this();
    auto recorded = executor_.begin_recorded();
    recorded.output("y", call(recorded, kernel, input(recorded, "x", x), w_));
    graph = recorded.finish({.run = false}).graph;
    auto direct = executor_.begin();
    direct.output("y", call(direct, kernel, input(direct, "x", x), w_));
    ticket = direct.submit();
  }
  const Values y = combined(x, w_values_, [](float a, float b) { return a - b; });
  EXPECT_EQ(ticket.read("y"), y);
  graph.set_timing(TimingMode::node);  // encodes it again
  graph.launch();
  EXPECT_EQ(graph.read("y"), y);
  EXPECT_FALSE(alive.expired());
  graph = CapturedGraph();
  ticket = Ticket();
  EXPECT_TRUE(alive.expired());
}

TEST_P(CustomKernels, OfTheSameSourceAreCompiledOnceAndComeBackAfterTheyWent) {
  const Values x = random();
  for (int i = 0; i < 3; ++i) {
    const CustomKernel again = sum_kernel(device_);
    const CustomKernel other = device_.compile_kernel(
        elementwise_source("sum", "w[i] - x[i]", [](float a, float b) { return b - a; }),
        elementwise_interface());
    auto s = executor_.begin();
    const Tensor in = input(s, "x", x);
    s.output("sum", call(s, again, in, w_));
    s.output("difference", call(s, other, in, w_));
    const FinishResult finished = s.finish();
    EXPECT_EQ(finished.read("sum"), combined(x, w_values_, [](float a, float b) { return a + b; }));
    EXPECT_EQ(finished.read("difference"),
              combined(x, w_values_, [](float a, float b) { return b - a; }));
    if (!on_host()) {
      EXPECT_EQ(again.op().shader, sum_.op().shader);
      EXPECT_NE(again.op().shader->name, other.op().shader->name);
    }
  }
}

TEST_P(CustomKernels, MayBeCompiledAndDroppedOnSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const CustomKernel kernel = device_.compile_kernel(
            elementwise_source("shared" + std::to_string(t % 2), "x[i] - w[i]",
                               [](float a, float b) { return a - b; }),
            elementwise_interface());
        auto s = executor_.begin();
        const Tensor x = s.input("x", {4}, Values{5, 6, 7, 8});
        const Tensor w = s.input("w", {4}, Values{1, 1, 2, 2});
        s.output("y", call(s, kernel, x, w));
        EXPECT_EQ(s.finish().read("y"), (Values{4, 5, 5, 6}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_P(CustomKernels, AreTimedAndDescribedInTheProfile) {
  const test::TempFolder folder;
  const auto path = folder / "custom_kernel.db";
  const KernelSource source = elementwise_source("sum", "x[i] + w[i]", nullptr);
  {
    GraphExecutor executor(device_, {.profile = path, .timing = TimingMode::node});
    auto s = executor.begin_recorded();
    const auto scope = s.scope("layer", 2);
    s.output("y", call(s, sum_, input(s, "x", random()), w_));
    CapturedGraph graph = s.finish().graph;
    graph.launch();
    executor.synchronize();
  }
  using test::sql;
  EXPECT_EQ(sql(path,
                "SELECT op, scope, json_extract(attributes_json, '$.count'), "
                "json_extract(attributes_json, '$.grid_x') FROM nodes"),
            "kernel:sum|layer.2|1003|32");
  EXPECT_EQ(sql(path, "SELECT slot, operand, access FROM node_tensors ORDER BY slot"),
            "0|x|r\n1|w|r\n2|y|w");
  EXPECT_EQ(sql(path, "SELECT count(*) > 0 AND min(n) > 0 FROM node_stats"), "1");
  if (on_host()) {
    EXPECT_EQ(sql(path, "SELECT kind FROM steps"), "host");
  } else {
    EXPECT_EQ(sql(path,
                  "SELECT k.name, k.local_x, k.push_bytes, k.shared_bytes, d.grid_x "
                  "FROM steps d JOIN kernels k ON k.id = d.kernel_id"),
              sum_.op().shader->name + "|32|4|0|32");
    EXPECT_EQ(test::bytes_of(path, "SELECT source FROM kernels"), source.glsl);
    EXPECT_EQ(sql(path, "SELECT length(spirv), pipeline_create_ns > 0 FROM kernels"),
              std::to_string(sum_.info().spirv.size() * 4) + "|1");
  }
}

TEST_P(CustomKernels, TellWhatTheyAre) {
  const CustomKernelInfo info = sum_.info();
  EXPECT_EQ(sum_.name(), "sum");
  EXPECT_EQ(info.push_bytes, 4U);
  EXPECT_EQ(info.constants, (std::map<std::uint32_t, std::uint32_t>{{0, 32}}));
  EXPECT_EQ(info.local_size.has_value(), !on_host());
  EXPECT_EQ(info.shared_bytes.has_value(), !on_host());
  EXPECT_EQ(info.create_ns.value_or(0) > 0, !on_host());
  EXPECT_EQ(info.spirv.empty(), on_host());
  if (!on_host()) {
    EXPECT_EQ(*info.local_size, (std::array<std::uint32_t, 3>{32, 1, 1}));
  }
}

TEST_P(CustomKernels, HaveAStructureThatSourceGridAndPushConstantsAreOf) {
  const auto hash = [&](const std::string& expression, std::uint32_t count, std::uint32_t groups) {
    const CustomKernel kernel = device_.compile_kernel(
        elementwise_source("same", expression, [](float a, float) { return a; }),
        elementwise_interface());
    auto s = executor_.begin_recorded();
    s.output("y", dispatch(s, kernel, {input(s, "x", Values(kCount)), w_}, {{{kCount}, DType::f32}},
                           CountPush{count}, {groups, 1, 1})[0]);
    return s.finish({.run = false}).graph.structure_hash();
  };
  const std::string first = hash("x[i]", 1003, 32);
  EXPECT_EQ(hash("x[i]", 1003, 32), first);
  EXPECT_NE(hash("w[i]", 1003, 32), first);
  EXPECT_NE(hash("x[i]", 1002, 32), first);
  EXPECT_NE(hash("x[i]", 1003, 31), first);
}

TEST_P(CustomKernels, AreComparedWithTheirFunctionOnTheCpu) {
  const Values x = random();
  const auto graph_on = [&](const Device& device, GraphExecutor& executor,
                            float (*f)(float, float)) {
    const CustomKernel kernel =
        device.compile_kernel(elementwise_source("sum", "x[i] + w[i]", f), elementwise_interface());
    auto s = executor.begin_recorded();
    s.output("y", call(s, kernel, input(s, "x", x), device.from_host({kCount}, w_values_, "w")));
    return s.finish({.run = false}).graph;
  };
  const Device cpu = test_device("cpu");
  GraphExecutor on_cpu(cpu);
  auto graph = graph_on(device_, executor_, [](float a, float b) { return a + b; });
  auto same = graph_on(cpu, on_cpu, [](float a, float b) { return a + b; });
  EXPECT_TRUE(compare_numerics(graph, same).pass());
  auto other = graph_on(cpu, on_cpu, [](float a, float b) { return a - b; });
  EXPECT_EQ(compare_numerics(graph, other).first_diverging()->name, "y");
}

TEST_P(CustomKernels, AreSeenByLintAndVerify) {
  const CustomKernel kernel = accumulate_kernel(device_);
  const StateBlock state(device_, StateLayout().host_f32("factor", 2));
  const Tensor kept = device_.from_host({kCount}, random(), "total");
  const Values x = random();
  float factor = 1;
  const RecordFunction baked = [&](GraphSession& s) {
    accumulate(s, kernel, input(s, "x", x), kept, factor);
  };
  const RecordFunction dynamic = [&](GraphSession& s) {
    accumulate(s, kernel, input(s, "x", x), kept, s.state("factor"));
  };
  const LintOptions options{{.state = state}, {[&] { factor = 2; }, [&] { factor = 3; }}};
  const LintReport found = lint(executor_, baked, options);
  ASSERT_FALSE(found.clean());
  EXPECT_EQ(found.findings[0].op, "kernel:accumulate");
  EXPECT_EQ(found.findings[0].field, "factor");
  EXPECT_TRUE(lint(executor_, dynamic, options).clean());
  const VerifyReport verified = verify(executor_, dynamic, {.session = {.state = state}});
  EXPECT_TRUE(verified.equal()) << verified.text();
  EXPECT_EQ(verified.tensors.size(), 2U) << verified.text();  // what it adds up, and the state
}

TEST_P(CustomKernels, StayAsTheyAreUnderPasses) {
  const Values x = random();
  const auto pass = [&](GraphSession& s) {
    const Tensor in = input(s, "x", x);
    const Tensor sum = call(s, sum_, in, w_);
    (void)call(s, product_, sum, sum);  // nobody reads it
    s.output("y", add(s, call(s, product_, sum, w_), in));
  };
  const FinishResult finished = executor_.capture(pass, {}, {.passes = PassOptions::exact()});
  EXPECT_EQ(finished.read("y"),
            combined(expected(x, w_values_), x, [](float a, float b) { return a + b; }));
  EXPECT_EQ(finished.report.steps, 3U) << "what nobody reads is gone";
}

TEST_P(CustomKernels, RunInPartAndWithoutReplay) {
  const Values x = random();
  const Device device = test_device_without_replay(GetParam());
  const CustomKernel kernel = sum_kernel(device);
  const Tensor w = device.from_host({kCount}, w_values_, "w");
  GraphExecutor executor(device);
  auto s = executor.begin_recorded();
  const Tensor in = s.input("x", {kCount}, x);
  s.output("y", call(s, kernel, call(s, kernel, in, w), in));
  CapturedGraph graph = s.finish().graph;
  const Values sum = combined(x, w_values_, [](float a, float b) { return a + b; });
  EXPECT_EQ(graph.read("y"), combined(sum, x, [](float a, float b) { return a + b; }));
  EXPECT_EQ(graph.run_prefix(0).read(0, 0), sum);
}

TEST_P(CustomKernels, AreNamedWhenAKeyIsRecordedAgainWithAnotherOne) {
  const GraphOwner owner{"model"};
  GraphCache cache(executor_, {.max_graphs = 1});
  const Values x = random();
  const auto run = [&](const std::string& tag, const std::string& name) {
    const CustomKernel kernel = device_.compile_kernel(
        elementwise_source(name, "x[i] + w[i]", [](float a, float b) { return a + b; }),
        elementwise_interface());
    const auto pass = [&](GraphSession& s) {
      s.output("y", call(s, kernel, s.input("x", {kCount}), w_));
    };
    const KeyedRun keyed = cache.run({.owner = owner, .tag = tag}, pass, {.inputs = {{"x", x}}});
    (void)keyed.read("y");  // what is in flight cannot go
  };
  run("a", "first");
  run("b", "other");  // the graph of the first one goes, and its kernel
  expect_error(ErrorCode::invalid_argument, {"kernel:second", "it was kernel:first"},
               [&] { run("a", "second"); });
}

}  // namespace
}  // namespace reprise::testing
