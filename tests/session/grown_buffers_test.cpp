// Buffers that grow: the contents move in order with work in flight, what was recorded with the old
// memory is stale.
#include "reprise/backend/backend.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

/// The rest of a grown tensor is zero.
std::vector<std::byte> padded(std::vector<std::byte> bytes, std::uint64_t size) {
  bytes.resize(size);
  return bytes;
}

/// Device memory that the host reaches, and memory that it does not.
class GrownBuffers : public ::testing::TestWithParam<std::string> {
 protected:
  GrownBuffers() {
    for (const bool map : {true, false}) {
      OpenOptions options;
      options.map_device_memory = map;
      options.validation = GetParam() == "vulkan";
      options.log = [this](LogLevel level, std::string_view text) {
        messages_ += level >= LogLevel::warning ? std::string(text) : "";
      };
      devices_.push_back(open_device(GetParam(), options));
    }
  }
  ~GrownBuffers() override { EXPECT_EQ(messages_, ""); }
  std::string messages_;
  std::vector<Device> devices_;
};
INSTANTIATE_TEST_SUITE_P(On, GrownBuffers, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(GrownBuffers, KeepTheirContentsAndTheRestIsZero) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const Device& device : devices_) {
    for (const DType dtype : {DType::f32, DType::f16, DType::q8_0}) {
      const auto bytes = random_bytes(rng, dtype, 3 * 96, -1, 1);
      const Tensor old = device.from_host({3, 96}, dtype, bytes, "cache");
      const Tensor grown = device.grow(old, {7, 96});
      EXPECT_EQ(to_string(grown.spec()), to_string(TensorSpec({7, 96}, dtype)));
      EXPECT_EQ(TensorRef(grown)->buffer->name(), "cache");
      EXPECT_EQ(device.to_host(grown), padded(bytes, grown.spec().bytes()));
      expect_error(ErrorCode::stale, {"(cache)"}, [&] { (void)device.to_host(old); });
      expect_error(ErrorCode::stale, {"(cache)"}, [&] { (void)device.grow(old, {7, 96}); });
    }
  }
}

TEST_P(GrownBuffers, FollowTheWorkInFlight) {
  for (const Device& device : devices_) {
    GraphExecutor executor(device);
    const Tensor cache = device.zeros({2, 4}, DType::f32, "cache");
    auto s = executor.begin();
    const std::vector<float> row{1, 2, 3, 4};
    set_rows(s, cache, s.input("row", {1, 4}, row), SetRowsAttributes{.position = 1});
    s.submit().release();
    const Tensor grown = device.grow(cache, {3, 4});
    auto after = executor.begin();
    set_rows(after, grown, after.input("row", {1, 4}, row), SetRowsAttributes{.position = 2});
    after.submit().release();
    EXPECT_EQ(device.to_host<float>(grown),
              (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4}));
  }
}

TEST_P(GrownBuffers, MakeGraphsStaleUntilRecordedAgain) {
  for (const Device& device : devices_) {
    GraphExecutor executor(device);
    const std::vector<float> ones{1, 1};
    Tensor cache = device.from_host({1, 2}, ones, "cache");
    const auto record = [&] {
      auto s = executor.begin_recorded({.name = "reader"});
      s.output("y", add(s, cache, cache));
      return s.finish().graph;
    };
    CapturedGraph graph = record();
    cache = device.grow(cache, {2, 2});
    ASSERT_TRUE(graph.stale().has_value());
    expect_error(ErrorCode::stale, {"'reader'", "(cache)"}, [&] { graph.launch(); });
    graph = record();
    graph.launch();
    EXPECT_EQ(graph.read("y"), (std::vector<float>{2, 2, 0, 0}));
  }
}

TEST_P(GrownBuffers, OfTheSameShapeAreTheSame) {
  const Device& device = devices_.front();
  const Tensor cache = device.zeros({2, 4}, DType::f32, "cache");
  const std::uint64_t frees = device.backend().free_count();
  const Tensor same = device.grow(cache, {2, 4});
  EXPECT_EQ(TensorRef(same)->buffer, TensorRef(cache)->buffer);
  EXPECT_EQ(device.backend().free_count(), frees);
}

TEST_P(GrownBuffers, MistakesAreNamedAndChangeNothing) {
  const Device& device = devices_.front();
  const Tensor cache = device.zeros({2, 4}, DType::f32, "cache");
  for (const Shape& shape : {Shape{1, 4}, Shape{2, 5}, Shape{8}, Shape{2, 4, 1}}) {
    expect_error(ErrorCode::invalid_argument,
                 {"'cache'", "f32 [2, 4]", "(" + to_string(TensorSpec(shape, DType::f32)) + ")"},
                 [&] { (void)device.grow(cache, shape); });
  }
  const Tensor half = Tensor::over(TensorRef(cache)->buffer, TensorSpec({1, 4}, DType::f32));
  expect_error(ErrorCode::invalid_argument, {"(32)", "whole"}, [&] {
    (void)device.grow(half, {3, 4});
  });
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] {
    (void)device.grow(Tensor(), {3, 4});
  });
  EXPECT_EQ(device.to_host(cache), std::vector<std::byte>(32));
}

TEST(GrownInFlight, TheOldMemoryIsReadUntilTheCopyIsDone) {
  const Device device = test_device("cpu");
  GraphExecutor executor(device);
  const std::vector<float> ones{1, 1};
  const Tensor cache = device.from_host({1, 2}, ones, "cache");
  const Tensor from = device.from_host({1, 2}, std::vector<float>{5, 6}, "from");
  auto s = executor.begin();
  set_rows(s, cache, pass_gate(s, from), SetRowsAttributes{.position = 0});
  Gate gate;
  const Ticket ticket = s.submit();
  gate.wait_until_reached();
  const Tensor grown = device.grow(cache, {2, 2});
  EXPECT_FALSE(ticket.done()) << "it waits for nothing";
  gate.open();
  EXPECT_EQ(device.to_host<float>(grown), (std::vector<float>{5, 6, 0, 0}));
  EXPECT_EQ(TensorRef(cache)->buffer->mapped(), nullptr) << "the old memory is gone";
}

}  // namespace
}  // namespace reprise::testing
