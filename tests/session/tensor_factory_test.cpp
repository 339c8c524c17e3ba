// Tensors made by a rule: every element against the rule as its header says it, on every device.
#include "framework/session/device/tensor_factory.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "framework/core/float16.h"
#include "framework/core/philox.h"
#include "framework/session/device/normal_quantile.h"
#include "reprise/backend/decode.h"
#include "reprise/session/saved_graphs.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

template <class T>
std::vector<T> elements(const Device& device, const Tensor& tensor) {
  const Bytes bytes = device.to_host(tensor);
  std::vector<T> all(bytes.size() / sizeof(T));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// The word that element `index` is made of.
std::uint32_t word(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  return philox4x32(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U), 0, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)})[index % 4];
}

/// More than two pieces, and no whole number of them or of blocks of random words.
constexpr std::int64_t kMany = static_cast<std::int64_t>(kPieceBytes) + 4099;

/// Memory that the host reaches, and memory that only copies reach.
class TensorFactory : public ::testing::TestWithParam<std::string> {
 protected:
  static Device open(const std::string& name) {
    const bool copied = name.ends_with("_copied");
    const std::string device = copied ? name.substr(0, name.find('_')) : name;
    if (!copied) {
      return test_device(device);
    }
    OpenOptions options;
    options.map_device_memory = false;
    options.validation = device == "vulkan";
    return open_device(device, options);
  }
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = open(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, TensorFactory,
                         ::testing::Values("cpu", "vulkan", "cpu_copied", "vulkan_copied"),
                         device_param_name);

TEST_P(TensorFactory, ZerosOnesAndFullHaveTheirValueEverywhere) {
  EXPECT_EQ(device_.to_host(device_.zeros({kMany}, DType::i32)), Bytes(4 * kMany));
  EXPECT_EQ(device_.to_host(device_.zeros({3, 64}, DType::q8_0)), Bytes(6 * sizeof(BlockQ8)));
  const std::size_t count = kMany;
  EXPECT_EQ(elements<float>(device_, device_.ones({kMany}, DType::f32)),
            std::vector<float>(count, 1));
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.ones({kMany}, DType::f16)),
            std::vector<std::uint16_t>(count, 0x3C00));
  EXPECT_EQ(elements<std::int32_t>(device_, device_.ones({kMany}, DType::i32)),
            std::vector<std::int32_t>(count, 1));
  EXPECT_EQ(elements<float>(device_, device_.full({7}, DType::f32, -0.1)),
            std::vector<float>(7, -0.1F));
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.full({7}, DType::f16, -65504)),
            std::vector<std::uint16_t>(7, 0xFBFF));
  EXPECT_EQ(elements<std::int32_t>(device_, device_.full({7}, DType::i32, -0x1p31)),
            std::vector<std::int32_t>(7, std::numeric_limits<std::int32_t>::min()));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.full({7}, DType::f16, -infinity)),
            std::vector<std::uint16_t>(7, 0xFC00));
}

TEST_P(TensorFactory, EmptyIsMemoryToBeWritten) {
  const Tensor tensor = device_.empty({5, 7}, DType::f16, "e");
  EXPECT_EQ(to_string(tensor.spec()), "f16 [5, 7]");
  EXPECT_EQ(tensor.name(), "e");
  std::mt19937_64 rng(seed_);
  const Bytes bytes = random_bytes(rng, DType::f16, 35, -1, 1);
  device_.write(TensorRef(tensor)->buffer, 0, bytes);
  EXPECT_EQ(device_.to_host(tensor), bytes);
}

TEST_P(TensorFactory, ElementsAreReadAsWhatTheyAre) {
  const Tensor integers = device_.from_host({3}, std::vector<std::int32_t>{1, -2, 3}, "integers");
  EXPECT_EQ(device_.to_host<std::int32_t>(integers), (std::vector<std::int32_t>{1, -2, 3}));
  const Tensor numbers = device_.from_host({2}, std::vector<float>{0.5F, -8}, "numbers");
  EXPECT_EQ(device_.to_host<float>(numbers), (std::vector<float>{0.5F, -8}));
  expect_error(ErrorCode::dtype_mismatch, {"'integers'", "i32 [3]", "(f32)"},
               [&] { (void)device_.to_host<float>(integers); });
}

TEST_P(TensorFactory, ArangeIsAnElementsIndexTimesTheStep) {
  const double step = std::ldexp(static_cast<double>(seed_ % 1000) - 500, -7);
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  std::vector<std::int32_t> integers;
  for (std::int64_t i = 0; i < kMany; ++i) {
    floats.push_back(static_cast<float>(0.1 + static_cast<double>(i) * step));
    halves.push_back(f32_to_f16(static_cast<float>(60000 - static_cast<double>(i) * 0.2)));
    integers.push_back(static_cast<std::int32_t>(-7 + i * 3));
  }
  EXPECT_EQ(elements<float>(device_, device_.arange({kMany}, DType::f32, 0.1, step)), floats);
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.arange({kMany}, DType::f16, 60000, -0.2)),
            halves);
  EXPECT_EQ(elements<std::int32_t>(device_, device_.arange({kMany}, DType::i32, -7, 3)), integers);
  EXPECT_EQ(elements<std::int32_t>(device_, device_.arange({2, 3}, DType::i32)),
            (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
}

TEST_P(TensorFactory, UniformIsTheWordOfTheIndexScaled) {
  // Between powers of two, so that rounding is exact whatever adds or multiplies first.
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  std::vector<std::int32_t> integers;
  const std::uint64_t count = 1 + seed_ % 1'000'000;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const double unit = word(seed_, i) / 0x1p32;
    floats.push_back(std::min(static_cast<float>(unit * 4 - 2), std::nextafter(2.0F, 0.0F)));
    halves.push_back(
        std::min(f32_to_f16(static_cast<float>(unit)), static_cast<std::uint16_t>(0x3BFF)));
    integers.push_back(static_cast<std::int32_t>(
        -5 + static_cast<std::int64_t>(std::floor(unit * static_cast<double>(count)))));
  }
  EXPECT_EQ(elements<float>(device_, device_.uniform({kMany}, DType::f32, seed_, -2, 2)), floats);
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.uniform({kMany}, DType::f16, seed_)), halves);
  EXPECT_EQ(elements<std::int32_t>(device_, device_.uniform({kMany}, DType::i32, seed_, -5,
                                                            static_cast<double>(count) - 5)),
            integers);
}

// The first words of Random123's vector for counter and key 0.
TEST_P(TensorFactory, UniformShowsThePublishedVector) {
  EXPECT_EQ(elements<std::int32_t>(device_, device_.uniform({4}, DType::i32, 0, -0x1p31, 0x1p31)),
            (std::vector<std::int32_t>{std::bit_cast<std::int32_t>(0x6627e8d5U ^ 0x80000000U),
                                       std::bit_cast<std::int32_t>(0xe169c58dU ^ 0x80000000U),
                                       std::bit_cast<std::int32_t>(0xbc57ac4cU ^ 0x80000000U),
                                       std::bit_cast<std::int32_t>(0x9b00dbd8U ^ 0x80000000U)}));
}

TEST_P(TensorFactory, NormalIsTheQuantileOfTheWordOfTheIndex) {
  const double mean = 0.75, stddev = 3;
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const double x = normal_quantile((word(seed_, i) + 0.5) / 0x1p32);
    floats.push_back(static_cast<float>(mean + stddev * x));
    halves.push_back(f32_to_f16(static_cast<float>(x)));
  }
  EXPECT_EQ(elements<float>(device_, device_.normal({kMany}, DType::f32, seed_, mean, stddev)),
            floats);
  EXPECT_EQ(elements<std::uint16_t>(device_, device_.normal({kMany}, DType::f16, seed_)), halves);
}

TEST_P(TensorFactory, RandomValuesHaveTheMomentsOfTheirDistribution) {
  const auto moments = [&](const Tensor& tensor) {
    double sum = 0, squares = 0;
    for (const float v : elements<float>(device_, tensor)) {
      sum += v;
      squares += static_cast<double>(v) * v;
    }
    const double mean = sum / kMany;
    return std::pair(mean, squares / kMany - mean * mean);
  };
  // Ten standard deviations of the estimates.
  const double n = kMany;
  const auto [uniform_mean, uniform_variance] =
      moments(device_.uniform({kMany}, DType::f32, seed_));
  EXPECT_NEAR(uniform_mean, 0.5, 10 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(uniform_variance, 1.0 / 12, 10 * std::sqrt(1.0 / 180 / n));
  const auto [normal_mean, normal_variance] = moments(device_.normal({kMany}, DType::f32, seed_));
  EXPECT_NEAR(normal_mean, 0, 10 * std::sqrt(1 / n));
  EXPECT_NEAR(normal_variance, 1, 10 * std::sqrt(2 / n));
}

TEST_P(TensorFactory, UniformStaysInItsRange) {
  const struct {
    DType dtype;
    double low, high;
  } rows[] = {{DType::f32, 0.1, 0.1000001},    {DType::f32, 1, std::nextafter(1.0F, 2.0F)},
              {DType::f32, -1e-45, 1e-45},     {DType::f32, -3e38, 3e38},
              {DType::f16, 0.1, 0.1004},       {DType::f16, -1e-7, 1e-7},
              {DType::f16, -0.30005, -0.2997}, {DType::f16, -65504, 65504}};
  for (const auto& row : rows) {
    const Tensor tensor = device_.uniform({1000}, row.dtype, seed_, row.low, row.high);
    std::map<double, int> seen;
    for (const double v : to_doubles(row.dtype, device_.to_host(tensor))) {
      EXPECT_GE(v, row.low);
      EXPECT_LT(v, row.high);
      ++seen[v];
    }
    EXPECT_GE(seen.size(), row.high - row.low > 1e-6 ? 2U : 1U) << row.low << " " << row.high;
  }
  for (const DType dtype : {DType::f32, DType::f16, DType::i32}) {
    EXPECT_EQ(device_.to_host(device_.uniform({9}, dtype, seed_, 3, 3)),
              device_.to_host(device_.full({9}, dtype, 3)));
  }
  EXPECT_EQ(device_.to_host(device_.normal({9}, DType::f32, seed_, 3, 0)),
            device_.to_host(device_.full({9}, DType::f32, 3)));
}

TEST_P(TensorFactory, IntegersAreDrawnUpToTheLastBelowTheEnd) {
  std::map<std::int32_t, int> seen;
  for (const std::int32_t v :
       elements<std::int32_t>(device_, device_.uniform({kMany}, DType::i32, seed_, -1, 2))) {
    ++seen[v];
  }
  ASSERT_EQ(seen.size(), 3U);
  for (const auto& [value, count] : seen) {
    EXPECT_TRUE(value >= -1 && value < 2) << value;
    EXPECT_NEAR(count, kMany / 3.0, 10 * std::sqrt(kMany * 2.0 / 9)) << value;
  }
}

TEST_P(TensorFactory, AnotherSeedGivesOtherValues) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    EXPECT_NE(device_.to_host(device_.uniform({8}, DType::f32, seed_)),
              device_.to_host(device_.uniform({8}, DType::f32, seed_ ^ std::uint64_t{1} << bit)))
        << "bit " << bit;
  }
}

TEST_P(TensorFactory, WhatTheDtypeCannotHoldIsRefused) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Make = std::function<Tensor()>;
  const struct {
    std::vector<std::string> parts;
    Make make;
  } rows[] = {
      {{"full", "i32", "(1.5)"}, [&] { return device_.full({2}, DType::i32, 1.5); }},
      {{"full", "i32", "(nan)"}, [&] { return device_.full({2}, DType::i32, nan); }},
      {{"full", "2147483647", "(2147483648)"},
       [&] { return device_.full({2}, DType::i32, 0x1p31); }},
      {{"full", "f16", "65504", "(70000)"}, [&] { return device_.full({2}, DType::f16, 7e4); }},
      {{"full", "f32", "(1e+39)"}, [&] { return device_.full({2}, DType::f32, 1e39); }},
      {{"full", "f32, f16 and i32", "(q8_0)"},
       [&] {
         return device_.full({2, 32}, DType::q8_0, 1);
       }},
      {{"full", "(q4_0)"},
       [&] {
         return device_.ones({2, 32}, DType::q4_0);
       }},
      {{"start of arange", "(0.5)"}, [&] { return device_.arange({2}, DType::i32, 0.5); }},
      {{"step of arange", "(0.5)"}, [&] { return device_.arange({2}, DType::i32, 0, 0.5); }},
      {{"step of arange", "finite", "(inf)"},
       [&] { return device_.arange({2}, DType::f32, 0, infinity); }},
      {{"last of 3 elements", "(2147483648)"},
       [&] { return device_.arange({3}, DType::i32, 0, 0x1p30); }},
      {{"last of 3 elements", "(-inf)"},
       [&] { return device_.arange({3}, DType::f32, 0, -1e308); }},
      {{"arange", "(i64)"}, [&] { return device_.arange({2}, DType::i64); }},
      {{"low end", "(2)", "(1)"}, [&] { return device_.uniform({2}, DType::f32, 0, 2, 1); }},
      {{"low end", "(nan)"}, [&] { return device_.uniform({2}, DType::f32, 0, nan, 1); }},
      {{"high end", "(inf)"}, [&] { return device_.uniform({2}, DType::f16, 0, 0, infinity); }},
      {{"high end", "(2147483649)"},
       [&] { return device_.uniform({2}, DType::i32, 0, 0, 0x1p31 + 1); }},
      {{"high end", "(1.5)"}, [&] { return device_.uniform({2}, DType::i32, 0, 0, 1.5); }},
      {{"no value of f16", "(1.0001)", "(1.0002)"},
       [&] { return device_.uniform({2}, DType::f16, 0, 1.0001, 1.0002); }},
      {{"uniform", "(q8_0)"}, [&] { return device_.uniform({32}, DType::q8_0, 0); }},
      {{"standard deviation", "(-1)"}, [&] { return device_.normal({2}, DType::f32, 0, 0, -1); }},
      {{"standard deviation", "(nan)"}, [&] { return device_.normal({2}, DType::f32, 0, 0, nan); }},
      {{"mean", "(inf)"}, [&] { return device_.normal({2}, DType::f32, 0, infinity); }},
      {{"furthest", "f16", "(76080)"}, [&] { return device_.normal({2}, DType::f16, 0, 0, 12e3); }},
      {{"normal", "f32 and f16", "(i32)"}, [&] { return device_.normal({2}, DType::i32, 0); }},
      {{"normal", "(q4_0)"}, [&] { return device_.normal({32}, DType::q4_0, 0); }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.parts.back());
    expect_error(ErrorCode::invalid_argument, row.parts, [&] { (void)row.make(); });
  }
}

TEST_P(TensorFactory, SizesThatAreNoMemoryAreRefused) {
  const auto each = [&](const Shape& shape) {
    return std::vector<std::function<Tensor()>>{
        [=, this] { return device_.empty(shape, DType::f32, "t"); },
        [=, this] { return device_.zeros(shape, DType::f32, "t"); },
        [=, this] { return device_.ones(shape, DType::f32, "t"); },
        [=, this] { return device_.full(shape, DType::f32, 2, "t"); },
        [=, this] { return device_.arange(shape, DType::f32, 0, 0, "t"); },
        [=, this] { return device_.uniform(shape, DType::f32, 1, 0, 1, "t"); },
        [=, this] { return device_.normal(shape, DType::f32, 1, 0, 1, "t"); }};
  };
  for (const auto& make : each({3, 0})) {
    expect_error(ErrorCode::invalid_argument, {"'t' f32 [3, 0]", "(0) elements"},
                 [&] { (void)make(); });
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const bool system_refuses = GetParam().starts_with("vulkan");  // a sanitizer ends the program
#else
  const bool system_refuses = true;
#endif
  for (const auto& make : each({std::int64_t{1} << 28U, std::int64_t{1} << 28U})) {
    if (system_refuses) {
      expect_error(ErrorCode::out_of_memory, {"'t'", "(288230376151711744)"},
                   [&] { (void)make(); });
    }
  }
  expect_error(ErrorCode::invalid_argument, {"2^56"}, [&] {
    (void)device_.empty({std::int64_t{1} << 40U, std::int64_t{1} << 40U}, DType::f32);
  });
}

TEST_P(TensorFactory, ViewsOfPersistentTensorsAreMadeOutsideOfSessions) {
  const Tensor x = device_.arange({3, 4}, DType::i32, 0, 1, "x");
  const Tensor rows = slice(x, 0, 1, 2);
  EXPECT_EQ(elements<std::int32_t>(device_, rows),
            (std::vector<std::int32_t>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(elements<std::int32_t>(device_, slice(reshape(rows, {4, 2}), 0, 3, 1)),
            (std::vector<std::int32_t>{10, 11}));
  GraphExecutor executor(device_);
  auto session = executor.begin();
  const Tensor floats = device_.arange({3, 4}, DType::f32);
  session.output("columns", copy(session, slice(permute(floats, {1, 0}), 1, 1, 2)));
  EXPECT_EQ(session.finish().read("columns"), (std::vector<float>{4, 8, 5, 9, 6, 10, 7, 11}));
}

TEST_P(TensorFactory, ViewsHaveNamesOfTheirOwn) {
  const Tensor x = device_.arange({3, 4}, DType::f32, 0, 1, "x");
  const std::vector<std::size_t> axes{1, 0};
  EXPECT_EQ(TensorRef(slice(x, 0, 1, 2))->name, "x.slice(0, 1, 2)");
  EXPECT_EQ(TensorRef(reshape(x, {6, 2}))->name, "x.reshape[6, 2]");
  EXPECT_EQ(TensorRef(permute(x, axes))->name, "x.permute(1, 0)");
  EXPECT_EQ(TensorRef(slice(device_.zeros({2}, DType::f32), 0, 0, 1))->name, "");
  GraphExecutor executor(device_);
  auto session = executor.begin_recorded();
  session.output("y", add(session, slice(x, 0, 0, 1), slice(x, 0, 2, 1)));
  const test::TempFolder folder;
  session.finish().graph.save(folder / "graph");
  std::map<std::string, Tensor, std::less<>> tensors;
  for (const Tensor& view : {slice(x, 0, 0, 1), slice(x, 0, 2, 1)}) {
    tensors.emplace(view.name(), view);
  }
  LoadedGraph loaded = executor.load_graph(folder / "graph", {.tensors = tensors});
  loaded.graph.launch();
  EXPECT_EQ(loaded.graph.read("y"), (std::vector<float>{8, 10, 12, 14}));
}

TEST_P(TensorFactory, WriteReplacesAllValuesOfATensor) {
  const Tensor x = device_.zeros({2, 2}, DType::f32, "x");
  device_.write(x, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(elements<float>(device_, x), (std::vector<float>{1, 2, 3, 4}));
  device_.write(slice(x, 0, 1, 1), std::vector<float>{7, 8});
  EXPECT_EQ(elements<float>(device_, x), (std::vector<float>{1, 2, 7, 8}));
  expect_error(ErrorCode::size_mismatch, {"'x' is f32 [2, 2] (16 bytes)", "(12)"}, [&] {
    device_.write(x, std::vector<float>{1, 2, 3});
  });
  expect_error(ErrorCode::dtype_mismatch, {"'x' is f32 [2, 2]", "(i32)"}, [&] {
    device_.write(x, std::vector<std::int32_t>{1, 2, 3, 4});
  });
  expect_error(ErrorCode::invalid_argument, {"x.slice(1, 0, 1)", "strided"}, [&] {
    device_.write(slice(x, 1, 0, 1), std::vector<float>{1, 2});
  });
  expect_error(ErrorCode::invalid_argument, {"to_host", "'x.slice(1, 0, 1)'", "strided"},
               [&] { (void)device_.to_host<float>(slice(x, 1, 0, 1)); });
  device_.free(x);
  expect_error(ErrorCode::stale, {"(x)"}, [&] {
    device_.write(x, std::vector<float>{1, 2, 3, 4});
  });
}

TEST_P(TensorFactory, ShapesAndAxesMayBeKnownAtRunTimeAlone) {
  const StateBlock state(device_, StateLayout().host("rows", 2));
  GraphExecutor executor(device_);
  auto session = executor.begin_recorded({.state = state, .extents = {{"rows", 4}}});
  std::vector<Extent> dims{session.extent("rows"), 3};
  EXPECT_EQ(Shape(dims), Shape({session.extent("rows"), 3}));
  dims = {3, session.extent("rows")};
  expect_error(ErrorCode::invalid_argument, {"first dimension", "(1)"},
               [&] { (void)Shape(std::span<const Extent>(dims)); });
}

TEST_P(TensorFactory, ViewsAreRefusedAsInSessions) {
  const Tensor x = device_.arange({3, 4}, DType::i32, 0, 1, "x");
  expect_error(ErrorCode::invalid_argument, {"'x' i32 [3, 4]", "(12)", "outside of sessions"},
               [&] { (void)reshape(x, {5}); });
  expect_error(ErrorCode::invalid_argument, {"slice", "empty"},
               [&] { (void)slice(Tensor(), 0, 0, 1); });
  GraphExecutor executor(device_);
  auto session = executor.begin();
  const Tensor transient = session.input("t", {2}, std::vector<float>{1, 2});
  expect_error(ErrorCode::invalid_argument, {"transient"},
               [&] { (void)slice(transient, 0, 0, 1); });
  device_.free(x);
  expect_error(ErrorCode::stale, {"(x)"}, [&] { (void)permute(x, {1, 0}); });
}

TEST(ElementValues, AreAskedForInBoundedPiecesOneAfterTheOther) {
  const Device device = test_device("cpu");
  const Tensor tensor = device.empty({kMany}, DType::f16);
  std::uint64_t next = 0;
  write_values(device, TensorRef(tensor)->buffer, 0, 2 * kMany, DType::f16,
               [&](std::uint64_t first, std::span<std::byte> to) {
                 EXPECT_EQ(first, next);
                 EXPECT_LE(to.size(), kPieceBytes);
                 next = first + to.size() / 2;
               });
  EXPECT_EQ(next, static_cast<std::uint64_t>(kMany));
}

// Too far for memory: the rule is asked itself.
TEST(ElementValues, FollowTheIndexBeyondWordsOf32Bits) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  for (const std::uint64_t first : {std::uint64_t{1} << 34U, (std::uint64_t{1} << 52U) - 7}) {
    std::vector<std::int32_t> drawn(9), expected;
    for (std::uint64_t i = 0; i < drawn.size(); ++i) {
      expected.push_back(std::bit_cast<std::int32_t>(word(seed, first + i) ^ 0x80000000U));
    }
    uniform_values(DType::i32, seed, -0x1p31, 0x1p31)(first,
                                                      std::as_writable_bytes(std::span(drawn)));
    EXPECT_EQ(drawn, expected);
    std::vector<float> ramp(1);
    ramp_values(DType::f32, 0, 0x1p-30, first + 1)(first, std::as_writable_bytes(std::span(ramp)));
    EXPECT_EQ(ramp.front(), static_cast<float>(static_cast<double>(first) * 0x1p-30));
  }
}

TEST(TensorFactoryAcrossDevices, RandomTensorsAreTheSameBits) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  OpenOptions one_thread;
  one_thread.threads = 1;
  const std::vector<Device> devices{test_device("cpu"), test_device("vulkan"),
                                    open_device("cpu", one_thread)};
  for (const DType dtype : {DType::f32, DType::f16}) {
    const Bytes uniform = devices[0].to_host(devices[0].uniform({kMany}, dtype, seed, -1, 3));
    const Bytes normal = devices[0].to_host(devices[0].normal({kMany}, dtype, seed, 1, 2));
    for (const Device& device : devices) {
      EXPECT_EQ(device.to_host(device.uniform({kMany}, dtype, seed, -1, 3)), uniform);
      EXPECT_EQ(device.to_host(device.normal({kMany}, dtype, seed, 1, 2)), normal);
    }
  }
}

}  // namespace
}  // namespace reprise::testing
