// Weights above the storage range on a device: a lowered limit must not change a bit.
#include <numeric>

#include "reprise/backend/backend.h"
#include "samples/llama/generate.h"
#include "tests/ops/case_run.h"

namespace reprise::testing {
namespace {

constexpr std::int64_t kLimit = 16384;
constexpr DType kFormats[] = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0, DType::q4_0,
                              DType::q5_1, DType::q4_k, DType::q6_k, DType::q3_k};

class SplitWeights : public ::testing::Test {
 protected:
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
  }
  /// Direct and recorded, under the limit: the bits of the whole weight, close to the reference.
  void expect_unchanged(const OpCase& row) {
    SCOPED_TRACE(row.label);
    const CaseOutputs whole = run_case(device_, row, false, seed_);
    const CaseOutputs reference = run_case(test_device("cpu"), row, false, seed_);
    for (const bool recorded : {false, true}) {
      SCOPED_TRACE(recorded ? "recorded" : "direct");
      const CaseOutputs parts = run_case(limited_, row, recorded, seed_);
      EXPECT_TRUE(parts == whole) << "bits differ";
      expect_close(reference, parts, row);
    }
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device("vulkan");
  const Device limited_ = test_device("vulkan", {.binding_bytes = kLimit});
};

TEST_F(SplitWeights, GiveTheSameProducts) {
  for (const DType dtype : kFormats) {
    const std::int64_t block = info_of(dtype).block_elements;
    const bool blocks = block > 1;
    const auto bytes = [](const std::array<std::int64_t, 4>& d, DType t) {
      return static_cast<std::int64_t>(
          bytes_of(t, static_cast<std::uint64_t>(d[0] * d[1] * d[2] * d[3])));
    };
    for (int i = 0; i < 6; ++i) {
      std::array<std::int64_t, 4> w{}, x{}, y{};
      do {
        w = {draw(1, 3), draw(1, 3), draw(1, 500),
             blocks ? block * draw(1, 288 / block) : draw(1, 300)};
        x = {w[0] * draw(1, 2), w[1] * draw(1, 2), draw(1, 6), w[3]};
        y = {x[0], x[1], x[2], w[2]};
      } while (bytes(w, dtype) <= kLimit || bytes(x, DType::f32) > kLimit - 64 ||
               bytes(y, DType::f32) > kLimit - 64);
      const bool permuted = !blocks && draw(0, 1) == 1;
      const auto addend = draw(0, 2);  // none, all of y, one row
      const std::array<std::int64_t, 4> added =
          addend == 1 ? y : std::array<std::int64_t, 4>{1, 1, 1, y[3]};
      expect_unchanged(
          {to_string(Shape(x)) + " x " + to_string(Shape(w)) + (permuted ? " permuted " : " ") +
               std::string(name_of(dtype)) + (addend == 0 ? "" : " + " + to_string(Shape(added))),
           1e-11, "", [=](CaseContext& c) -> std::vector<Tensor> {
             Recorder& r = c.recorder();
             const Tensor a = c.input(Shape(x));
             return {matmul(r, a,
                            permuted
                                ? permute(r, c.input({w[2], w[0], w[1], w[3]}, dtype), {1, 2, 0, 3})
                                : c.input(Shape(w), dtype),
                            addend == 0 ? Tensor() : c.input(Shape(added)))};
           }});
    }
  }
}

TEST_F(SplitWeights, GiveTheSameProductsOfExperts) {
  for (const DType dtype : kFormats) {
    const std::int64_t block = info_of(dtype).block_elements;
    const bool blocks = block > 1;
    // The second table has cells that are too large alone.
    for (const bool large_cells : {false, true}) {
      const std::int64_t cells = draw(2, 5);
      const std::int64_t k = blocks ? block * draw(std::max<std::int64_t>(128 / block, 1),
                                                   std::max<std::int64_t>(288 / block, 1))
                                    : 4 * draw(30, 70);
      const auto row = static_cast<std::int64_t>(bytes_of(dtype, static_cast<std::uint64_t>(k)));
      const std::int64_t m = large_cells ? kLimit / row + draw(1, 90) : (kLimit / 2 + row) / row;
      const std::int64_t rows = std::max<std::int64_t>(1, 2000 / std::max(k, m));
      expect_unchanged({to_string(Shape{rows, 2}) + " of " + to_string(Shape{cells, m, k}) + " " +
                            std::string(name_of(dtype)),
                        1e-11, "", [=](CaseContext& c) -> std::vector<Tensor> {
                          Recorder& r = c.recorder();
                          const Tensor x = c.input({rows, 2, k});
                          const Tensor w = c.input({cells, m, k}, dtype);
                          const Tensor ids = c.ids({rows, 2}, DType::i32, -1, cells + 1);
                          return {matmul_experts(r, x, w, ids,
                                                 c.ids({cells}, DType::i32, -1, cells + 1),
                                                 c.input({rows, 2, m}))};
                        }});
    }
  }
}

TEST_F(SplitWeights, GiveTheSameRows) {
  for (const DType dtype : kFormats) {
    const std::int64_t block = info_of(dtype).block_elements;
    const bool blocks = block > 1;
    for (const DType ids : {DType::i32, DType::i64}) {
      std::int64_t tables = 0, rows = 0, cols = 0, count = 0;
      do {
        tables = draw(1, 4);
        rows = draw(1, 500);
        cols = blocks ? block * draw(1, std::max<std::int64_t>(192 / block, 1)) : draw(1, 200);
        count = draw(1, 40);
      } while (bytes_of(dtype, static_cast<std::uint64_t>(tables * rows * cols)) <= kLimit ||
               tables * count * cols * 4 > kLimit);
      const bool flat = tables == 1 && draw(0, 1) == 1;
      const Shape table = flat ? Shape{rows, cols} : Shape{1, tables, rows, cols};
      const Shape wanted = flat ? Shape{count} : Shape{1, tables, count};
      expect_unchanged({to_string(wanted) + " of " + to_string(table) + " " +
                            std::string(name_of(dtype)) + " " + std::string(name_of(ids)),
                        0, "", [=](CaseContext& c) -> std::vector<Tensor> {
                          const Tensor from = c.input(table, dtype);
                          // Some outside the table, on both sides.
                          return {get_rows(c.recorder(), from, c.ids(wanted, ids, -3, rows + 3))};
                        }});
    }
  }
}

TEST_F(SplitWeights, GiveTheRowOfAStateField) {
  expect_unchanged({"state id",
                    0,
                    "",
                    [](CaseContext& c) -> std::vector<Tensor> {
                      return {get_rows(c.recorder(), c.input({300, 65}, DType::f16),
                                       c.recorder().state("token"))};
                    },
                    {{"token", {0, 299, 150, -1, 300}}}});
}

TEST_F(SplitWeights, WorkAboveTheLimitOfTheDriver) {
  constexpr std::int64_t kColumns = 1024;
  const std::uint64_t limit = device_.backend().traits().max_binding_bytes;
  if (limit > std::uint64_t{1} << 28U) {
    GTEST_SKIP() << "This device binds (" << limit << ") bytes.";
  }
  const std::int64_t rows = static_cast<std::int64_t>(limit / (kColumns * 4)) + 100;
  // Row r of the weights is r % 1000 + c % 7: the sums are exact in f32.
  std::vector<float> values(static_cast<std::size_t>(rows * kColumns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i / kColumns % 1000 + i % kColumns % 7);
  }
  const Tensor weights = device_.from_host({rows, kColumns}, values, "weights");
  GraphExecutor executor(device_);
  auto session = executor.begin();
  session.output("row", get_rows(session, weights, static_cast<std::int32_t>(rows - 1)));
  const std::vector<float> ones(kColumns, 1);
  session.output("sums", matmul(session, session.input("x", {kColumns}, ones), weights));
  const auto result = session.finish();
  const auto row = result.read<float>("row");
  EXPECT_TRUE(std::equal(row.begin(), row.end(), values.end() - kColumns));
  const auto sums = result.read<float>("sums");
  ASSERT_EQ(sums.size(), static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(r * kColumns);
    ASSERT_EQ(sums[r], std::accumulate(first, first + kColumns, 0.0F)) << "row " << r;
  }
}

TEST_F(SplitWeights, GenerateTheSameText) {
  const std::vector<std::int32_t> prompt{1, 300, 301};
  const auto ids = [&](const GgufFile& file, const Device& device, llama::Mode mode) {
    GraphExecutor executor(device);
    const llama::Model model = llama::load_model(device, file, 16);
    return llama::generate(
               executor, model,
               {.prompt = prompt, .count = 6, .context = 16, .end_token = 2, .mode = mode},
               [](std::int32_t) {})
        .ids;
  };
  for (const char* format : {"f16", "q8_0", "q4_0"}) {
    SCOPED_TRACE(format);
    const auto file =
        GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" + format + ".gguf");
    const auto whole = ids(file, device_, llama::Mode::recorded);
    EXPECT_EQ(ids(file, limited_, llama::Mode::direct), whole);
    EXPECT_EQ(ids(file, limited_, llama::Mode::recorded), whole);
  }
}

}  // namespace
}  // namespace reprise::testing
