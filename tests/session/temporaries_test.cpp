// Values and tensors that go at the end of the statement in which they are given.
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Temporaries : public ::testing::Test {
 protected:
  /// Memory that was freed is written anew.
  static void reuse_memory() {
    for (int i = 0; i < 64; ++i) {
      const Floats other(4, -1);
      ASSERT_EQ(other.size(), 4U);
    }
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
};

TEST_F(Temporaries, ASessionKeepsTheInputsItBeginsWith) {
  auto s = executor_.begin({.inputs = {{"x", Floats{1, 2, 3, 4}}}});
  reuse_memory();
  s.output("y", neg(s, s.input("x", {4})));
  EXPECT_EQ(s.finish().read("y"), (Floats{-1, -2, -3, -4}));
}

TEST_F(Temporaries, ASessionCopiesWhatTheCallerMayChange) {
  Floats x{1, 2, 3, 4};
  auto s = executor_.begin_recorded({.inputs = {{"x", x}}});
  x.assign(4, -1);
  s.output("y", neg(s, s.input("x", {4})));
  EXPECT_EQ(s.finish().read("y"), (Floats{-1, -2, -3, -4}));
}

TEST_F(Temporaries, OptionsKeepValuesAndNames) {
  const SessionOptions options{.inputs = {{std::string(40, 'x'), Floats{1, 2, 3, 4}}}};
  reuse_memory();
  auto s = executor_.begin(options);
  s.output("y", neg(s, s.input(std::string(40, 'x'), {4})));
  EXPECT_EQ(s.finish().read("y"), (Floats{-1, -2, -3, -4}));
}

TEST_F(Temporaries, AttributesKeepTheirTensors) {
  auto s = executor_.begin();
  const Tensor x = s.input("x", {1, 2}, Floats{1, 1});
  const SoftmaxAttributes attributes{.mask = neg(s, s.input("m", {1, 2}, Floats{0, 900}))};
  const Tensor other = neg(s, x);  // takes the place of what nobody keeps
  s.output("other", other);
  s.output("y", softmax(s, x, attributes));
  EXPECT_EQ(s.finish().read("y"), (Floats{1, 0}));
}

// Optional operands are written as the others are.
static_assert(std::is_convertible_v<const Tensor&, TensorArgument>);
static_assert(std::is_convertible_v<TensorRef, TensorArgument>);

}  // namespace
}  // namespace reprise::testing
