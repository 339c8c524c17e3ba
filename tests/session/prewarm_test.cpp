// Kernels made ready before their first use, and what that leaves alone.
#include <algorithm>
#include <set>

#include "reprise/backend/step.h"
#include "reprise/graph/execution_plan.h"
#include "tests/session/counted_backend.h"
#include "tests/session/forwarding_encoder.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Prewarm : public ::testing::TestWithParam<std::string> {
 protected:
  static OpenOptions options() {
    OpenOptions options;
    options.validation = GetParam() == "vulkan";
    return options;
  }
  /// Kernels whose pipelines exist.
  std::size_t pipelines(const CapturedGraph& of) const {
    const StepList& steps = of.plan().steps;
    std::vector<Kernel> known;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Kernel& kernel = steps[s].kernel;
      if (device_.backend().kernel_info(kernel) && std::ranges::count(known, kernel) == 0) {
        known.push_back(kernel);
      }
    }
    return known.size();
  }
  void pass(GraphSession& s) const {
    const Tensor x = s.input("x", {2, 4}, x_);
    const Tensor y = rms_norm(s, add(s, x, x), weight_, {.eps = 1e-5F});
    set_rows(s, cache_, y, SetRowsAttributes{.position = 0});
    s.output("y", mul(s, y, y));
  }
  bool has_pipelines() const { return GetParam() == "vulkan"; }

  // A device of its own: no other test has made pipelines in it.
  Device device_ = open_device(GetParam(), options());
  GraphExecutor executor_{device_};
  Tensor weight_ = device_.from_host({4}, std::vector<float>(4, 1), "weight");
  Tensor cache_ = device_.from_host({2, 4}, std::vector<float>(8, 7), "cache");
  const std::vector<float> x_{1, 2, 3, 4, 5, 6, 7, 8};
};
INSTANTIATE_TEST_SUITE_P(On, Prewarm, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Prewarm, TheFirstSessionAfterItCreatesNoPipeline) {
  // Planning alone makes none, so this graph can be asked what there is.
  GraphExecutor other(test_device(GetParam()));
  const Tensor weight = other.device().from_host({4}, std::vector<float>(4, 1), "weight");
  const Tensor cache = other.device().zeros({2, 4}, DType::f32, "cache");
  auto r = other.begin_recorded();
  const Tensor x = r.input("x", {2, 4}, x_);
  const Tensor y = rms_norm(r, add(r, x, x), weight, {.eps = 1e-5F});
  set_rows(r, cache, y, SetRowsAttributes{.position = 0});
  r.output("y", mul(r, y, y));
  const CapturedGraph plan = r.finish({.run = false}).graph;
  EXPECT_EQ(pipelines(plan), 0U);
  const WarmUp warm = executor_.prewarm([&](GraphSession& s) { pass(s); });
  EXPECT_GT(warm.ns, 0U);
  const std::size_t made = pipelines(plan);
  EXPECT_EQ(made, has_pipelines() ? 4U : 0U);
  EXPECT_EQ(warm.kernels, made);
  auto s = executor_.begin();
  pass(s);
  (void)s.finish();
  EXPECT_EQ(pipelines(plan), made);
}

TEST_P(Prewarm, RunsAndTouchesNothing) {
  const StateBlock state(device_, StateLayout().carried("pos", 5));
  const std::uint64_t before =
      device_.backend().last_use(*TensorRef(cache_)->buffer, Access::read_write);
  (void)executor_.prewarm(
      [&](GraphSession& s) {
        pass(s);
        advance(s, s.input("next", {1}, std::vector<std::int32_t>{3}),
                {.position = s.state("pos"), .rows = 1});
      },
      {.state = state});
  EXPECT_EQ(device_.backend().last_use(*TensorRef(cache_)->buffer, Access::read_write), before);
  EXPECT_EQ(to_doubles(DType::f32, device_.to_host(cache_)), std::vector<double>(8, 7));
  EXPECT_EQ(state.get("pos"), 5);
}

TEST_P(Prewarm, APassThatThrowsLeavesTheExecutorUsable) {
  EXPECT_THROW((void)executor_.prewarm([](GraphSession& s) { (void)s.state("pos"); }), Error);
  EXPECT_NO_THROW((void)executor_.prewarm([&](GraphSession& s) { pass(s); }));
}

TEST_P(Prewarm, AnUploadedGraphIsReadyAndHasNotRun) {
  auto s = executor_.begin_recorded();
  pass(s);
  CapturedGraph graph = s.finish({.run = false}).graph;
  EXPECT_FALSE(graph.is_uploaded());
  EXPECT_GT(graph.upload(), 0U);
  EXPECT_TRUE(graph.is_uploaded());
  EXPECT_EQ(graph.upload(), 0U) << "the second time there is nothing to do";
  EXPECT_EQ(graph.num_replays(), 0U);
  EXPECT_EQ(to_doubles(DType::f32, device_.to_host(cache_)), std::vector<double>(8, 7));
  EXPECT_EQ(pipelines(graph), has_pipelines() ? 4U : 0U);
}

/// A shader; its constants, then the bytes of each of its bindings.
using KernelUse = std::pair<std::string, std::vector<std::uint64_t>>;

KernelUse use_of(const StepList& steps, std::size_t index) {
  const Kernel& kernel = steps[index].kernel;
  KernelUse use{std::string(kernel.shader), {kernel.constants.begin(), kernel.constants.end()}};
  for (const Binding& binding : steps.bindings(steps[index])) {
    use.second.push_back(binding.bytes);
  }
  return use;
}

/// Tells which kernels it encoded over no groups.
class WatchedKernels final : public CountedBackend {
 public:
  using CountedBackend::CountedBackend;
  std::unique_ptr<Encoder> encoder(const EncoderOptions& options) override {
    class Watching final : public ForwardingEncoder {
     public:
      Watching(std::unique_ptr<Encoder> to, std::set<KernelUse>& uses)
          : ForwardingEncoder(std::move(to)), uses_(uses) {}
      void step(const StepList& steps, std::size_t index,
                std::span<const std::shared_ptr<Buffer>> pools) override {
        if (steps[index].kind == StepKind::dispatch && steps[index].grid == Grid{0, 0, 0}) {
          uses_.insert(use_of(steps, index));
        }
        ForwardingEncoder::step(steps, index, pools);
      }

     private:
      std::set<KernelUse>& uses_;
    };
    return std::make_unique<Watching>(CountedBackend::encoder(options), over_nothing);
  }
  std::set<KernelUse> over_nothing;
};

class WarmKernels : public ::testing::Test {
 protected:
  const ExpectNoValidationMessages quiet_;
  std::shared_ptr<WatchedKernels> backend_ =
      std::make_shared<WatchedKernels>(test_device("vulkan"));
  Device device_{backend_};
  GraphExecutor executor_{device_};
  Tensor weight_ = device_.from_host({96}, Floats(96, 1), "weight");
  const FinishOptions fused_{.passes = PassOptions::exact(), .run = false};

  void pass(GraphSession& s) const {
    const Tensor x = s.input("x", {2, 96}, Floats(192, 2));
    const Tensor z = s.input("z", {1, 96}, Floats(96, 3));
    s.output("z", add(s, z, z));  // the kernel of the next one over other sizes
    s.output("x", add(s, x, x));
    s.output("y", rms_norm(s, add(s, mul(s, x, x), x), weight_, {.eps = 1e-5F}));
  }
  CapturedGraph capture() {
    return executor_.capture([&](GraphSession& s) { pass(s); }, {}, fused_).graph;
  }
  static std::set<KernelUse> uses_of(const CapturedGraph& graph) {
    std::set<KernelUse> uses;
    const StepList& steps = graph.plan().steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].kind == StepKind::dispatch) {
        uses.insert(use_of(steps, s));
      }
    }
    return uses;
  }
};

TEST_F(WarmKernels, AreBoundByUploadToMemoryOfTheSizesThatTheyWillHave) {
  CapturedGraph graph = capture();
  EXPECT_TRUE(backend_->over_nothing.empty());
  (void)graph.upload();
  EXPECT_EQ(backend_->over_nothing, uses_of(graph));
}

TEST_F(WarmKernels, AreThoseThatThePassesLeave) {
  (void)executor_.prewarm([&](GraphSession& s) { pass(s); }, {}, fused_);
  EXPECT_EQ(backend_->over_nothing, uses_of(capture()));
}

TEST_F(WarmKernels, AnUploadedGraphIsLaunchedWithoutEncodingAnything) {
  if (!device_.backend().traits().replays) {
    GTEST_SKIP() << "Every launch of this device encodes.";
  }
  const StateBlock state(device_, StateLayout().carried("pos"));
  for (const TimingMode mode : {TimingMode::off, TimingMode::replay, TimingMode::node}) {
    SCOPED_TRACE(static_cast<int>(mode));
    executor_.set_timing(mode);
    CapturedGraph graph = executor_
                              .capture(
                                  [&](GraphSession& s) {
                                    pass(s);
                                    advance(s, s.input("id", {1}, std::vector<std::int32_t>{3}),
                                            {.position = s.state("pos"), .rows = 1});
                                  },
                                  {.state = state, .max_iterations = 3}, {.run = false})
                              .graph;
    (void)graph.upload();
    const std::uint64_t encodings = backend_->encodings();
    for (const std::uint32_t iterations : {3U, 1U}) {
      const Ticket first = graph.launch_async({.iterations = iterations});
      const Ticket second = graph.launch_async({.iterations = iterations});
      first.wait();
      second.wait();
    }
    EXPECT_EQ(backend_->encodings(), encodings);
  }
}

TEST_F(WarmKernels, TheSegmentsAroundHostStepsAreEncodedByUploadToo) {
  if (!device_.backend().traits().replays) {
    GTEST_SKIP() << "Every launch of this device encodes.";
  }
  const auto copied = [](HostStepCall& call) {
    std::ranges::copy(call.input(0), call.output(0).begin());
  };
  for (const bool joined : {false, true}) {
    SCOPED_TRACE(joined);
    auto s = executor_.begin_recorded();
    const Tensor x = s.input("x", {2, 96}, Floats(192, 2));
    const Tensor y = host_step(s, "copy", {add(s, x, x)}, {x.spec()}, copied)[0];
    s.output("y", add(s, y, x));
    CapturedGraph graph = s.finish({.run = false, .joined_host_steps = joined}).graph;
    (void)graph.upload();
    const std::uint64_t encodings = backend_->encodings();
    graph.launch();
    graph.launch();
    EXPECT_EQ(backend_->encodings(), encodings);
    EXPECT_EQ(graph.read("y"), Floats(192, 6));
  }
}

TEST_F(WarmKernels, UploadBesideALaunchThatWritesTheSameMemoryChangesNothing) {
  const Tensor table = device_.zeros({2, 96}, DType::f32, "table");
  const auto record = [&] {
    auto s = executor_.begin_recorded();
    const Tensor x = s.input("x", {1, 96}, Floats(96, 2));
    set_rows(s, table, x, SetRowsAttributes{.position = 1});
    s.output("y", add(s, table, table));
    return s.finish({.run = false}).graph;
  };
  CapturedGraph running = record(), uploaded = record();
  const Ticket ticket = running.launch_async();
  EXPECT_GT(uploaded.upload(), 0U);
  ticket.wait();
  Floats twice(192, 0);
  std::fill(twice.begin() + 96, twice.end(), 4.0F);
  EXPECT_EQ(ticket.read("y"), twice);
  uploaded.launch();
  EXPECT_EQ(uploaded.read("y"), twice);
}

TEST_P(Prewarm, AGraphThatRanIsUploaded) {
  auto s = executor_.begin_recorded();
  pass(s);
  CapturedGraph graph = s.finish().graph;
  EXPECT_TRUE(graph.is_uploaded());
  EXPECT_EQ(graph.upload(), 0U);
}

}  // namespace
}  // namespace reprise::testing
