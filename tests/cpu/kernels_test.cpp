// Kernels of every instruction set this machine has, at several numbers of threads, against the
// references.
#include <limits>
#include <map>

#include "framework/ops/weight_formats.h"
#include "reprise/formats/gguf.h"
#include "samples/llama/forward.h"
#include "tests/cpu/instruction_sets.h"
#include "tests/ops/case_run.h"
#include "tests/ops/op_case_table.h"

namespace reprise::testing {
namespace {

Device cpu_of(unsigned threads) {
  OpenOptions options;
  options.threads = threads;
  return open_device("cpu", options);
}

/// The rows of one op.
class CpuKernels : public ::testing::TestWithParam<NamedCases> {
 protected:
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
};
INSTANTIATE_TEST_SUITE_P(Of, CpuKernels, ::testing::ValuesIn(all_op_cases()),
                         [](const auto& p) { return std::string(p.param.op); });

/// With every instruction set.
void expect_the_references(const std::vector<OpCase>& rows, std::uint64_t seed) {
  ASSERT_FALSE(targets().empty());
  for (const OpCase& row : rows) {
    const CaseOutputs expected = run_case(test_device("reference"), row, false, seed);
    for (const std::int64_t target : targets()) {
      SCOPED_TRACE(row.label + " " + hwy::TargetName(target));
      const UseTargets only(target);
      expect_close(expected, run_case(test_device("cpu"), row, false, seed), row);
    }
  }
}

TEST_P(CpuKernels, OfEveryInstructionSetComputeWhatTheReferencesDo) {
  expect_the_references(GetParam().cases(), seed_);
}

/// Results of 8 MiB and more, of whole lines or of parts of them. No row of the ops: lavapipe needs
/// 13 GB for one under the address sanitizer.
TEST(CopiesOnTheCpu, PastTheCachesAreThoseOfTheReferences) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const auto turned = [](const char* name, const Shape& x, const std::vector<std::size_t>& order,
                         DType dtype = DType::f32) {
    return OpCase{name, 0, "moves bits", [=](CaseContext& c) -> std::vector<Tensor> {
                    return {copy(c.recorder(), permute(c.recorder(), c.input(x, dtype), order))};
                  }};
  };
  const auto joined = [](const char* name, const std::function<Tensor(CaseContext&)>& f) {
    return OpCase{name, 0, "moves bits",
                  [=](CaseContext& c) -> std::vector<Tensor> { return {f(c)}; }};
  };
  expect_the_references(
      {turned("lines", {1040, 2067}, {1, 0}), turned("f16", {2080, 2070}, {1, 0}, DType::f16),
       turned("batches", {3, 1040, 700}, {0, 2, 1}), turned("parts_of_lines", {1027, 2064}, {1, 0}),
       joined("beside_others",
              [](CaseContext& c) {
                Recorder& r = c.recorder();
                const auto wide = [&](const Shape& x) {
                  return c.ids(x, DType::i64, -70000, 70000);
                };
                const Tensor a = permute(r, wide({520, 2067}), {1, 0});
                return concat(r, a, wide({2067, 8}), 1);
              }),
       joined("from_anywhere",
              [](CaseContext& c) {
                Recorder& r = c.recorder();
                const Tensor a = permute(r, c.input({1039, 2067}), {1, 0});
                return concat(r, c.input({2067, 1}), a, 1);
              })},
      seed);
}

/// Results of 32 MiB and more: rows that begin anywhere in a vector, some shorter than one. Those
/// of parts of them are held to the references above.
TEST(SoftmaxOnTheCpu, PastTheCachesHasTheBitsOfItsParts) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  for (const Shape& shape : {Shape{3, 4111, 683}, Shape{1, 1680001, 5}}) {
    const std::int64_t heads = shape.dim(0), rows = shape.dim(1), cols = shape.dim(2),
                       half = rows / 2;
    const auto x = random_bytes(rng, DType::f32, shape.elements(), -8, 8);
    const auto sinks = random_bytes(rng, DType::f32, heads, -8, 12);
    const auto mask = random_bytes(rng, DType::f16, rows * cols, -4, 0);
    for (const std::int64_t target : targets()) {
      SCOPED_TRACE(to_string(shape) + " " + hwy::TargetName(target));
      const UseTargets only(target);
      GraphExecutor executor(test_device("cpu"));
      auto s = executor.begin();
      const Tensor scores = s.input("x", shape, DType::f32, x);
      const Tensor hidden = s.input("mask", {rows, cols}, DType::f16, mask);
      const Tensor sink = s.input("sinks", {heads}, DType::f32, sinks);
      const auto part = [&](std::int64_t first, std::int64_t count) {
        return softmax(s, slice(s, scores, 1, first, count),
                       {.mask = slice(s, hidden, 0, first, count), .sinks = sink});
      };
      s.output("whole", softmax(s, scores, {.mask = hidden, .sinks = sink}));
      s.output("parts", concat(s, part(0, half), part(half, rows - half), 1));
      const auto results = s.finish();
      EXPECT_TRUE(results.read("whole") == results.read("parts"));
    }
  }
}

TEST_P(CpuKernels, GiveTheSameBitsAtEveryNumberOfThreads) {
  const Device one = cpu_of(1);
  const Device several = cpu_of(3);
  for (const OpCase& row : GetParam().cases()) {
    SCOPED_TRACE(row.label);
    EXPECT_TRUE(run_case(one, row, false, seed_) == run_case(several, row, false, seed_));
  }
}

/// Rounded to 8 bits per block of 32, as Precision::fast does.
std::vector<float> rounded(const std::vector<float>& x) {
  std::vector<float> result(x.size());
  for (std::size_t first = 0; first < x.size(); first += 32) {
    const auto block = std::span(x).subspan(first, 32);
    const float largest = std::abs(*std::ranges::max_element(
        block, [](float a, float b) { return std::abs(a) < std::abs(b); }));
    for (std::size_t i = 0; i < block.size(); ++i) {
      result[first + i] = std::nearbyint(block[i] * (127 / largest)) * (largest / 127);
    }
  }
  return result;
}

class CpuPrecision : public ::testing::TestWithParam<DType> {
 protected:
  /// Products that are large enough to be shared out, in each of the ways rows of x are grouped;
  /// the longer rows are more than a panel.
  struct Sizes {
    std::int64_t m, k;  // or the next whole block
  };
  static constexpr Sizes kSizes[] = {{515, 352}, {71, 2080}};
  static constexpr std::int64_t kRows[] = {1, 2, 7, 16, 205};

  using Results = std::vector<std::vector<float>>;

  /// x and blocks of weights are what `round` and `change` make of random ones.
  template <class Round, class Change>
  Results products(const Device& device, Precision precision, Round&& round, Change&& change) {
    std::mt19937_64 rng(seed_);
    GraphExecutor executor(device, {.precision = precision});
    auto session = executor.begin();
    std::vector<std::string> names;
    for (const auto& [m, min] : kSizes) {
      const std::int64_t block = info_of(GetParam()).block_elements;
      const std::int64_t k = (min + block - 1) / block * block;
      auto blocks = random_bytes(rng, GetParam(), m * k, -1, 1);
      change(blocks);
      const Tensor w = device.from_host({m, k}, GetParam(), blocks, "w");
      for (const std::int64_t n : kRows) {
        const auto bytes = random_bytes(rng, DType::f32, n * k, -1, 1);
        std::vector<float> x(static_cast<std::size_t>(n * k));
        std::memcpy(x.data(), bytes.data(), bytes.size());
        names.push_back(std::to_string(n) + "x" + std::to_string(k));
        session.output(names.back(),
                       matmul(session, session.input("x" + names.back(), {n, k}, round(x)), w));
      }
    }
    const auto result = session.finish();
    Results all;
    for (const std::string& name : names) {
      all.push_back(result.read(name));
    }
    return all;
  }
  template <class Round>
  Results products(const Device& device, Precision precision, Round&& round) {
    return products(device, precision, round, [](const auto& /*blocks*/) {});
  }
  Results products(const Device& device, Precision precision) {
    return products(device, precision, [](const std::vector<float>& x) { return x; });
  }
  static void expect_close(const Results& expected, const Results& actual) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(
          nmse({expected[i].begin(), expected[i].end()}, {actual[i].begin(), actual[i].end()}),
          1e-11)
          << "product " << i;
    }
  }
  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
};
INSTANTIATE_TEST_SUITE_P(Of, CpuPrecision, ::testing::ValuesIn(ops::kWeightFormats),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(CpuPrecision, GivesTheSameBitsAtEveryNumberOfThreads) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const auto alone = products(cpu_of(1), precision);
    for (const unsigned threads : {2U, 3U, 7U}) {
      EXPECT_EQ(products(cpu_of(threads), precision), alone)
          << threads << " threads, " << name_of(precision);
    }
  }
}

TEST_P(CpuPrecision, ExactGivesWhatTheReferenceDoes) {
  const auto expected = products(test_device("reference"), Precision::exact);
  for (const std::int64_t target : targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const UseTargets only(target);
    expect_close(expected, products(test_device("cpu"), Precision::exact));
  }
}

TEST_P(CpuPrecision, FastRoundsActivationsOfQuantisedWeightsAlone) {
  // The others are decoded: products of integers are of these formats alone.
  const DType type = GetParam();
  const bool blocks = type == DType::q8_0 || type == DType::q4_0;
  const bool super_blocks = type == DType::q4_k || type == DType::q5_k || type == DType::q6_k;
  const auto exact = products(test_device("reference"), Precision::exact);
  const auto of_rounded = products(test_device("reference"), Precision::exact, rounded);
  for (const std::int64_t target : targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const UseTargets only(target);
    const bool byte_products = HWY_ARCH_X86 != 0 && target <= HWY_AVX2;
    const bool byte_sums = HWY_ARCH_X86 != 0 && target <= HWY_AVX3_DL;
    const auto fast = products(test_device("cpu"), Precision::fast);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const bool many = kRows[i % std::size(kRows)] >= 16;
      const bool rounds = many ? byte_sums && (blocks || (super_blocks && type != DType::q6_k))
                               : blocks || (super_blocks && byte_products);
      expect_close({(rounds ? of_rounded : exact)[i]}, {fast[i]});
    }
  }
}

/// Formats of which there are products of integers.
class CpuIntegers : public CpuPrecision {
 protected:
  struct Integers {
    std::size_t first, bytes;  // of a block
    int least, largest;        // all bits of a byte that make them so
  };
  static const Integers& integers_of(DType type) {
    static const std::map<DType, Integers> kOfFormats{{DType::q8_0, {2, 32, 0x80, 0x7F}},
                                                      {DType::q4_0, {2, 16, 0, 0xFF}},
                                                      {DType::q4_k, {16, 128, 0, 0xFF}},
                                                      {DType::q5_k, {16, 160, 0, 0xFF}},
                                                      {DType::q6_k, {0, 192, 0, 0xFF}}};
    return kOfFormats.at(type);
  }
};
INSTANTIATE_TEST_SUITE_P(Of, CpuIntegers,
                         ::testing::Values(DType::q8_0, DType::q4_0, DType::q4_k, DType::q5_k,
                                           DType::q6_k),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(CpuIntegers, AreAddedUpAtTheirLargest) {
  const Integers& integers = integers_of(GetParam());
  for (const int bits : {integers.least, integers.largest}) {
    const auto fill = [&](std::vector<std::byte>& blocks) {
      for (std::size_t at = integers.first; at < blocks.size();
           at += static_cast<std::size_t>(info_of(GetParam()).block_bytes)) {
        std::fill_n(&blocks[at], integers.bytes, static_cast<std::byte>(bits));
      }
    };
    for (const float x : {1.0F, -1.0F}) {  // rounded to 127 and -127
      const auto same = [x](const std::vector<float>& v) { return std::vector(v.size(), x); };
      const auto expected = products(test_device("reference"), Precision::exact, same, fill);
      for (const std::int64_t target : targets()) {
        SCOPED_TRACE(::testing::Message()
                     << hwy::TargetName(target) << ", bits " << bits << ", x " << x);
        const UseTargets only(target);
        expect_close(expected, products(test_device("cpu"), Precision::fast, same, fill));
      }
    }
  }
}

TEST(LayerOnTheCpu, GivesTheSameBitsAtEveryNumberOfThreads) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  const auto layer = [&](const Device& device) {
    std::mt19937_64 rng(seed);
    constexpr std::int64_t kRows = 150, kHeads = 6, kDim = 48, kColumns = kHeads * kDim;
    GraphExecutor executor(device);
    auto s = executor.begin();
    const auto values = [&](const char* name, const Shape& shape, DType type = DType::f32) {
      return s.input(name, shape, type, random_bytes(rng, type, shape.elements(), -1, 1));
    };
    const Tensor x = rms_norm(s, values("x", {kRows, kColumns}), values("weight", {kColumns}));
    const Tensor q = rope(s, reshape(s, x, {kRows, kHeads, kDim}), {.dims = kDim});
    const Tensor a = attention(s, q, values("k", {200, 3, kDim}, DType::f16),
                               values("v", {200, 3, kDim}, DType::f16));
    const Tensor y = add(s, mul(s, reshape(s, a, {kRows, kColumns}), x), x);
    s.output("y", silu_mul(s, y, x));
    s.output("argmax", argmax(s, y));
    const auto result = s.finish();
    return std::pair(result.read("y"), result.template read<std::int32_t>("argmax"));
  };
  const auto alone = layer(cpu_of(1));
  for (const unsigned threads : {2U, 3U, 7U}) {
    EXPECT_EQ(layer(cpu_of(threads)), alone) << threads << " threads";
  }
}

TEST(RowsOnTheCpu, OfEqualIdsAreTheSameAtEveryNumberOfThreads) {
  constexpr std::int64_t kRows = 256, kHeads = 8, kDim = 128;
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  const auto x = random_bytes(rng, DType::f32, kRows * kHeads * kDim, -1, 1);
  const std::vector<std::int32_t> ids(kRows, 0);
  const auto table_of = [&](const Device& device) {
    const Tensor table = device.zeros({2, kHeads, kDim}, DType::f32, "table");
    GraphExecutor executor(device);
    auto s = executor.begin();
    rope_set_rows(s, table, s.input("x", {kRows, kHeads, kDim}, DType::f32, x),
                  s.input("ids", {kRows}, ids), {.dims = kDim});
    s.finish();
    return device.to_host<float>(table);
  };
  const std::vector<float> alone = table_of(cpu_of(1));
  for (const unsigned threads : {2U, 3U, 7U}) {
    EXPECT_EQ(table_of(cpu_of(threads)), alone) << threads << " threads";
  }
}

TEST(ConvolutionsOnTheCpu, OfTheLargestPaddingsAreThoseOfTheReference) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto result = [&](const Device& device) {
    GraphExecutor executor(device);
    auto s = executor.begin();
    const Tensor x = s.input("x", {1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4});
    const Tensor w = s.input("w", {1, 1, 1, 1}, std::vector<float>{5});
    s.output(
        "y",
        conv_2d(s, x, w,
                {.stride_y = kMost, .stride_x = kMost, .padding_y = kMost, .padding_x = kMost}));
    return s.finish().read("y");
  };
  EXPECT_EQ(result(cpu_of(1)), result(test_device("reference")));
}

}  // namespace
}  // namespace reprise::testing
