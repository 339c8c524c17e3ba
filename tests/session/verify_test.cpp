// Direct runs beside recorded and replayed ones, what is said where they differ, and that all is as
// before afterwards.
#include <cmath>
#include <limits>

#include "tests/session/saved_pass.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Verify : public ::testing::TestWithParam<std::string> {
 protected:
  /// The tensor of that name; fails the test if there is none.
  static VerifiedTensor find(const VerifyReport& report, const std::string& name) {
    for (const VerifiedTensor& tensor : report.tensors) {
      if (tensor.name == name) {
        return tensor;
      }
    }
    ADD_FAILURE() << "no " << name << " in: " << report.text();
    return {};
  }
  static void expect(const std::optional<VerifyDifference>& found, std::uint64_t element,
                     const std::string& expected, const std::string& actual, std::uint64_t count,
                     double max_abs) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->element, element);
    EXPECT_EQ(found->expected, expected);
    EXPECT_EQ(found->actual, actual);
    EXPECT_EQ(found->count, count);
    EXPECT_EQ(found->max_abs, max_abs);
  }
  Floats host(const Tensor& tensor) const {
    const std::vector<double> values = to_doubles(DType::f32, device_.to_host(tensor));
    return {values.begin(), values.end()};
  }
  Tensor cache(const char* name) const { return device_.from_host({4, 2}, before_, name); }
  /// Adds 1 to every element of a tensor, on the host.
  static void bump(GraphSession& s, const Tensor& tensor, int* calls = nullptr) {
    host_step(
        s, "bump", {}, {},
        [calls](HostStepCall& call) {
          if (calls != nullptr) {
            ++*calls;
          }
          for (float& value : call.in_place<float>()) {
            ++value;
          }
        },
        tensor);
  }

  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const Floats before_ = wave(8, 0.3);
  const Floats x_ = wave(4, 0.5);
};
INSTANTIATE_TEST_SUITE_P(On, Verify, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Verify, ACorrectPassIsEqualAndLeavesNoTrace) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  SavedPass checked(device_);
  SavedPass untouched(device_);
  for (SavedPass* pass : {&checked, &untouched}) {  // caches that are not empty
    std::mt19937_64 rng(seed);
    for (const char* name : {"keys", "values"}) {
      const TensorRef tensor(pass->at(name));
      device_.write(tensor->buffer, 0, random_bytes(rng, DType::f32, 1024, -1, 1));
    }
    std::vector<std::int32_t> seen(SavedPass::kCapacity, 3);
    pass->state.set({{"pos", 5}, {"boost", 2}, {"seen", seen}});  // for the next launch
  }
  const VerifyReport report =
      verify(checked.executor, [&](GraphSession& s) { checked.record(s); },
             {.session = {.name = "pass", .state = checked.state, .max_iterations = 4}});
  EXPECT_TRUE(report.equal()) << report.text();
  EXPECT_EQ(report.text(), "'pass', 15 outputs and written tensors: equal bit for bit");
  for (const char* name :
       {"output 'logits'", "output 'keys'", "tensor 'keys'", "tensor 'values'", "state field 'pos'",
        "state field 'kv_len'", "state array 'weights'", "state array 'seen'"}) {
    (void)find(report, name);
  }
  EXPECT_EQ(checked.state.get("pos"), 0);
  for (const char* name : {"keys", "values"}) {
    EXPECT_TRUE(device_.to_host(checked.at(name)) == device_.to_host(untouched.at(name)));
  }
  auto graph = checked.capture().graph;
  auto other = untouched.capture().graph;
  EXPECT_TRUE(outcome_of(checked, graph, 1) == outcome_of(untouched, other, 1));
}

TEST_P(Verify, FindsAPassThatReadsAVariableOfTheHost) {
  const Tensor kept = cache("kept");
  std::int32_t calls = 0;
  const VerifyReport report = verify(executor_, [&](GraphSession& s) {
    const float step = static_cast<float>(++calls);
    const Tensor x = s.input("x", {1, 2}, Floats{7, step});
    set_rows(s, kept, x, SetRowsAttributes{.position = 2});
    s.output("y", add(s, x, x));
    s.output("same", copy(s, slice(s, x, 1, 0, 1)));
  });
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(report.equal());
  const VerifiedTensor y = find(report, "output 'y'");
  expect(y.first_run, 1, "2", "4", 1, 2);
  expect(y.replay, 1, "2", "4", 1, 2);
  const VerifiedTensor written = find(report, "tensor 'kept'");
  expect(written.first_run, 5, "1", "2", 1, 1);
  EXPECT_TRUE(find(report, "output 'same'").equal());
  EXPECT_EQ(
      report.text(),
      "'recorded', 3 outputs and written tensors: 2 differ\n"
      "output 'y' f32 [1, 2]; the first run differs in 1 elements by at most 2, first in "
      "element 1: (2) in the direct run, (4) there; a replay differs in 1 elements by at most "
      "2, first in element 1: (2) in the direct run, (4) there\n"
      "tensor 'kept' f32 [8]; the first run differs in 1 elements by at most 1, first in "
      "element 5: (1) in the direct run, (2) there; a replay differs in 1 elements by at most "
      "1, first in element 5: (1) in the direct run, (2) there");
  EXPECT_EQ(host(kept), before_);
}

TEST_P(Verify, FindsAHostStepThatCounts) {
  float calls = 0;
  const VerifyReport report = verify(executor_, [&](GraphSession& s) {
    const auto counted =
        host_step(s, "count", {}, {TensorSpec({3}, DType::f32)}, [&](HostStepCall& call) {
          ++calls;
          const auto y = call.output<float>(0);
          y[0] = 0;
          y[1] = 10 * calls;
          y[2] = -calls;
        });
    s.output("y", counted[0]);
  });
  const VerifiedTensor y = find(report, "output 'y'");
  expect(y.first_run, 1, "10", "20", 2, 10);
  expect(y.replay, 1, "10", "30", 2, 20);
}

TEST_P(Verify, FindsStateThatOnlyThePassSets) {
  const StateBlock state(device_, StateLayout().carried("pos").host("rows", 1));
  const VerifyReport report =
      verify(executor_,
             [&](GraphSession& s) {
               state.set({{"pos", 3}, {"rows", 4}});
               advance(s, s.input("next", {1}, std::vector<std::int32_t>{9}),
                       {.position = s.state("pos"), .rows = s.state("rows")});
             },
             {.session = {.state = state}});
  const VerifiedTensor pos = find(report, "state field 'pos'");
  EXPECT_FALSE(pos.first_run);
  expect(pos.replay, 0, "7", "4", 1, 3);
  EXPECT_TRUE(find(report, "state field 'rows'").equal()) << "the host's fields keep their values";
  EXPECT_EQ(state.get("pos"), 0);
}

TEST_P(Verify, ComparesAndRestoresWhatOnlyOneOfTheRunsWrites) {
  const Tensor a = cache("a"), b = cache("b");
  int calls = 0;
  const VerifyReport report = verify(executor_, [&](GraphSession& s) {
    set_rows(s, ++calls == 1 ? a : b, s.input("x", {1, 2}, Floats{7, 8}),
             SetRowsAttributes{.position = 0});
  });
  EXPECT_TRUE(find(report, "tensor 'a'").first_run);
  EXPECT_TRUE(find(report, "tensor 'b'").replay);
  EXPECT_EQ(host(a), before_);
  EXPECT_EQ(host(b), before_);
}

TEST_P(Verify, ComparesBits) {
  int calls = 0;
  const VerifyReport report = verify(executor_, [&](GraphSession& s) {
    const bool direct = ++calls == 1;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    s.output("zero", copy(s, s.input("z", {1}, Floats{direct ? 0.0F : -0.0F})));
    s.output("nan", copy(s, s.input("n", {2}, Floats{nan, direct ? 1.0F : nan})));
    s.output(
        "integer",
        copy(s, s.input("i", {1}, std::vector<std::int32_t>{direct ? 2000000001 : 2000000000})));
  });
  expect(find(report, "output 'zero'").replay, 0, "0", "-0", 1, 0);
  expect(find(report, "output 'nan'").replay, 1, "1", "nan", 1,
         std::numeric_limits<double>::infinity());
  expect(find(report, "output 'integer'").replay, 0, "2000000001", "2000000000", 1, 1);
}

TEST_P(Verify, SaysWhichOutputsCannotBeCompared) {
  int calls = 0;
  const VerifyReport report = verify(executor_, [&](GraphSession& s) {
    const Tensor x = s.input("x", {4}, x_);
    const bool direct = ++calls == 1;
    s.output(direct ? "a" : "b", x);
    s.output("y", copy(s, slice(s, x, 0, 0, direct ? 2 : 3)));
  });
  EXPECT_EQ(find(report, "output 'a'").mismatch, "only the direct session has it");
  EXPECT_EQ(find(report, "output 'b'").mismatch, "only the recorded session has it");
  EXPECT_EQ(find(report, "output 'y'").mismatch,
            "f32 [2] in the direct session, f32 [3] in the recorded one");
  EXPECT_FALSE(report.equal());
}

// The first calls are those of the direct session: it hands over parts while it is recorded.
TEST_P(Verify, AnExceptionInThePassLeavesMemoryAsItWas) {
  for (const int throws_in : {1, 2}) {
    SCOPED_TRACE(throws_in);
    const Tensor kept = cache("kept"), bumped = cache("bumped");
    const StateBlock state(device_, StateLayout().carried("pos", 3));
    state.set("pos", 5);
    int calls = 0, bumps = 0;
    const auto pass = [&](GraphSession& s) {
      advance(s, s.input("next", {1}, std::vector<std::int32_t>{9}), {.position = s.state("pos")});
      set_rows(s, kept, s.input("x", {1, 2}, Floats{7, 8}), SetRowsAttributes{.position = 0});
      bump(s, bumped, &bumps);
      if (++calls == throws_in) {
        throw std::string("not of this library");
      }
    };
    EXPECT_THROW((void)verify(executor_, pass, {.session = {.state = state, .ops_per_submit = 1}}),
                 std::string);
    EXPECT_EQ(bumps, 1) << "a part ran";
    EXPECT_EQ(host(kept), before_);
    EXPECT_EQ(host(bumped), before_);
    EXPECT_EQ(state.get("pos"), 3);
    auto s = executor_.begin({.state = state});
    s.output("y", s.input("x", {4}, x_));
    (void)s.finish();
    EXPECT_EQ(state.get("pos"), 5) << "what was set before is still to come";
  }
}

TEST_P(Verify, AnExceptionInAReplayLeavesMemoryAsItWas) {
  for (const bool joined : {false, true}) {
    SCOPED_TRACE(joined);
    const Tensor bumped = cache("bumped");
    int calls = 0;
    EXPECT_THROW((void)verify(executor_,
                              [&](GraphSession& s) {
                                bump(s, bumped);
                                host_step(s, "third", {}, {TensorSpec({1}, DType::f32)},
                                          [&](HostStepCall& call) {
                                            call.output<float>(0)[0] = 1;
                                            if (++calls == 3) {
                                              throw std::string("not of this library");
                                            }
                                          });
                                bump(s, bumped);
                              },
                              {.finish = {.joined_host_steps = joined}}),
                 Error);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(host(bumped), before_);
  }
}

TEST_P(Verify, WorksWhereNothingIsReplayed) {
  SavedPass pass(test_device_without_replay(GetParam()));
  const VerifyReport report = verify(pass.executor, [&](GraphSession& s) { pass.record(s); },
                                     {.session = {.state = pass.state}});
  EXPECT_TRUE(report.equal()) << report.text();
}

TEST_P(Verify, WorksWhereTheHostDoesNotShareTheMemory) {
  OpenOptions options;
  options.validation = GetParam() == "vulkan";
  options.map_device_memory = false;
  SavedPass pass(open_device(GetParam(), options));
  float counted = 0;
  const VerifyReport report = verify(
      pass.executor,
      [&](GraphSession& s) {
        pass.record(s);
        bump(s, pass.at("values"));
        const Floats x(SavedPass::kDim, ++counted);
        set_rows(s, pass.at("keys"), s.input("x", {1, 16}, x), SetRowsAttributes{.position = 0});
      },
      {.session = {.state = pass.state}});
  EXPECT_TRUE(find(report, "tensor 'values'").equal());
  expect(find(report, "tensor 'keys'").replay, 0, "1", "2", 16, 1);
  for (const char* name : {"keys", "values"}) {
    const std::vector<double> now = to_doubles(DType::f32, pass.device.to_host(pass.at(name)));
    EXPECT_EQ(now, std::vector<double>(now.size(), 0.0));
  }
  EXPECT_EQ(validation_message_count(pass.device), 0U);
}

TEST_P(Verify, WaitsForLaunchesInFlight) {
  SavedPass pass(device_);
  auto graph = pass.capture().graph;
  Ticket ticket = graph.launch_async();
  const VerifyReport report = verify(pass.executor, [&](GraphSession& s) { pass.record(s); },
                                     {.session = {.state = pass.state}});
  EXPECT_TRUE(report.equal()) << report.text();
  EXPECT_EQ(ticket.state("pos"), 2);
  EXPECT_EQ(pass.state.get("pos"), 2) << "the launch that was seen last is the user's";
  graph.launch();
  EXPECT_EQ(pass.state.get("pos"), 3);
}

TEST_P(Verify, APassWithExtentsIsEqual) {
  const StateBlock state(device_, StateLayout().host("rows", 3).carried("pos"));
  const Tensor kept = cache("kept");
  const VerifyReport report =
      verify(executor_,
             [&](GraphSession& s) {
               const Tensor x = s.input("x", {s.extent("rows"), 2}, Floats{1, 2, 3, 4, 5, 6});
               set_rows(s, kept, x, SetRowsAttributes{.position = 0});
               s.output("y", neg(s, x));
             },
             {.session = {.state = state, .extents = {{"rows", 4}}}});
  EXPECT_EQ(report.text(), "'recorded', 4 outputs and written tensors: equal bit for bit");
}

TEST_P(Verify, APassWithoutRowsHasNoOutputsToCompare) {
  const StateBlock state(device_, StateLayout().host("rows", 0));
  const Tensor kept = cache("kept");
  const VerifyReport report =
      verify(executor_,
             [&](GraphSession& s) {
               const Tensor x = s.input("x", {s.extent("rows"), 2}, Floats());
               set_rows(s, kept, x, SetRowsAttributes{.position = 0});
               s.output("y", neg(s, x));
             },
             {.session = {.state = state, .extents = {{"rows", 4}}}});
  EXPECT_TRUE(report.equal()) << report.text();
  EXPECT_TRUE(find(report, "tensor 'kept'").equal());
  EXPECT_EQ(host(kept), before_);
}

}  // namespace
}  // namespace reprise::testing
