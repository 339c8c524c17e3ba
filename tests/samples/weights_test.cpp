// Tensors of a model file on a device: in place where the device can, copied where it cannot.
#include "samples/llama/weights.h"

#include "tests/formats/gguf_builder.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Weights : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_equal(const llama::Weights& weights, const GgufFile& file) const {
    for (const GgufTensor& t : file.tensors()) {
      EXPECT_TRUE(std::ranges::equal(device_.to_host(weights.get(std::string(t.name))), t.data))
          << t.name;
    }
  }
  /// Whether the device reads memory of the host in place at all.
  bool imports() const {
    return device_.info().type == "cpu" || device_.info().type == "integrated";
  }

  const ExpectNoValidationMessages quiet_;
  const Device device_ = test_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(On, Weights, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Weights, AreThoseOfTheFileInPlace) {
  for (const char* format : {"f16", "q8_0", "q4_0"}) {
    SCOPED_TRACE(format);
    const auto file =
        GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-" + format + ".gguf");
    const llama::Weights weights(device_, file);
    expect_equal(weights, file);
    EXPECT_GT(weights.bytes().all, 700'000U);
    EXPECT_EQ(weights.bytes().in_place, imports() ? weights.bytes().all : 0);
  }
}

TEST_P(Weights, AreCopiedWhereTheyAreMisaligned) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::uint32_t kF32 = 0, kF16 = 1, kQ8 = 8, kQ4 = 2;
  const auto with_filler = [&](std::size_t filler) {
    test::GgufBuilder builder;
    builder.alignment(1).text("filler", std::string(filler, '.'));
    const auto add = [&](const char* name, std::uint32_t type, std::uint64_t elements,
                         std::size_t bytes) {
      std::string data(bytes, '\0');
      std::ranges::generate(data, [&] { return static_cast<char>(rng()); });
      builder.tensor(name, {elements}, type, data);
    };
    add("a", kF32, 20, 80);
    add("b", kF16, 33, 66);
    add("c", kF32, 7, 28);  // two bytes off a word, as d
    add("d", kF16, 5, 10);
    add("e", kF32, 3, 12);
    add("f", kQ4, 96, 54);
    add("g", kQ8, 32, 34);  // two bytes off a word
    add("h", kQ8, 64, 68);
    return builder.bytes();
  };
  constexpr std::uint64_t kBytes = 80 + 66 + 28 + 10 + 12 + 54 + 34 + 68;
  // Without an alignment, the data of the file starts where the length of its head says.
  const std::size_t head = with_filler(0).size() - kBytes;
  const test::TempFile path(with_filler((4 - head % 4) % 4));
  const auto file = GgufFile::open(path.path());
  const llama::Weights weights(device_, file);
  expect_equal(weights, file);
  EXPECT_EQ(weights.bytes().all, kBytes);
  EXPECT_EQ(weights.bytes().in_place, imports() ? 80 + 66 + 12 + 54 + 68 : 0);
}

TEST_P(Weights, KeepTheFileMapped) {
  Tensor norm;
  std::vector<std::byte> expected;
  {
    const auto file = GgufFile::open(std::string(REPRISE_MODELS_DIR) + "/tales-f16.gguf");
    norm = llama::Weights(device_, file).get("output_norm.weight");
    const auto& data = file.tensor("output_norm.weight").data;
    expected.assign(data.begin(), data.end());
  }
  EXPECT_EQ(device_.to_host(norm), expected);
}

TEST_P(Weights, OfAFileThatShrankAreAnError) {
  test::GgufBuilder builder;
  builder.tensor("a", {32}, 0, std::string(128, 'x'));
  const test::TempFile path(builder.bytes());
  const auto file = GgufFile::open(path.path());
  std::filesystem::resize_file(path.path(), 64);
  expect_error(ErrorCode::io, {path.path().string(), "(64)"},
               [&] { const llama::Weights weights(device_, file); });
}

}  // namespace
}  // namespace reprise::testing
