// safetensors models: right ones give exactly what they hold, wrong ones an Error and nothing else.
#include "reprise/formats/safetensors.h"

#include <fstream>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "reprise/core/error.h"
#include "tests/formats/gguf_builder.h"
#include "tests/formats/mutant_index.h"
#include "tests/seed.h"

namespace reprise {
namespace {

using test::raw;
using test::TempFile;

const std::filesystem::path kMutants = REPRISE_SAFETENSORS_MUTANTS_DIR;

std::string packed(const std::string& header, const std::string& data) {
  return raw<std::uint64_t>(header.size()) + header + data;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads every byte that the model offers, so that a sanitizer sees a view that is too long.
std::uint64_t touch(const SafetensorsFile& file) {
  std::uint64_t sum = 0;
  for (const SafetensorsTensor& tensor : file.tensors()) {
    EXPECT_EQ(file.find(tensor.name), &tensor);
    for (const std::byte byte : tensor.data) {
      sum += static_cast<std::uint64_t>(byte);
    }
    try {
      sum += bytes_of(tensor.require_dtype(),
                      static_cast<std::uint64_t>(tensor.require_shape().elements()));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    }
  }
  return sum;
}

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string message_of_header(const std::string& header, const std::string& data = "") {
  const TempFile file(packed(header, data));
  return message_of([&] { SafetensorsFile::open(file.path()); });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Safetensors, TensorsAndMetadataAreReadAsWritten) {
  const TempFile temp(packed(
      R"({"__metadata__":{"format":"pt","a":""},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
      R"("caf\u00e9":{"data_offsets":[0,4],"dtype":"BF16","shape":[2]},)"
      R"("s":{"dtype":"I64","shape":[],"data_offsets":[12,20]},)"
      R"("none":{"dtype":"F16","shape":[0,3],"data_offsets":[20,20]}}   )",
      "abcdABCDEFGH12345678"));
  const SafetensorsFile file = SafetensorsFile::open(temp.path());
  ASSERT_EQ(file.tensors().size(), 4U);
  EXPECT_EQ(file.tensors()[0].name, "w");
  const SafetensorsTensor& w = file.tensor("w");
  EXPECT_EQ(w.require_dtype(), DType::f32);
  EXPECT_EQ(w.require_shape(), (Shape{2, 1}));
  EXPECT_EQ(text_of(w.data), "ABCDEFGH");
  EXPECT_EQ(w.file, temp.path().string());
  EXPECT_EQ(file.tensor("caf\xC3\xA9").require_dtype(), DType::bf16);
  EXPECT_EQ(text_of(file.tensor("caf\xC3\xA9").data), "abcd");
  EXPECT_EQ(file.tensor("s").require_shape(), (Shape{1}));
  EXPECT_TRUE(file.tensor("s").dims.empty());
  EXPECT_EQ(file.tensor("none").require_shape(), (Shape{0, 3}));
  EXPECT_TRUE(file.tensor("none").data.empty());
  EXPECT_EQ(file.find("x"), nullptr);
  ASSERT_EQ(file.shards().size(), 1U);
  EXPECT_EQ(file.shards()[0].bytes, std::filesystem::file_size(temp.path()));
  EXPECT_EQ(file.shards()[0].metadata,
            (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}, {"a", ""}}));
}

TEST(Safetensors, BytesOfTheCallersAreReadInPlace) {
  const std::string bytes =
      packed(R"({"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "abc");
  const SafetensorsFile file = SafetensorsFile::over(std::as_bytes(std::span(bytes)), "memory");
  EXPECT_EQ(text_of(file.tensor("w").data), "abc");
  EXPECT_EQ(static_cast<const void*>(file.tensor("w").data.data()),
            bytes.data() + bytes.size() - 3);
  EXPECT_NO_THROW(file.require_unchanged());
  EXPECT_TRUE(contains(message_of([&] { (void)file.tensor("v"); }), "'memory'"));
}

TEST(Safetensors, TensorsOutliveTheHandleWithTheStorage) {
  std::shared_ptr<const void> storage;
  std::span<const std::byte> data;
  {
    const SafetensorsFile file = SafetensorsFile::open(kMutants / "valid.safetensors");
    storage = file.storage();
    data = file.tensor("layer.0.bias").data;
  }
  EXPECT_EQ(data.size(), 6U);
  EXPECT_FALSE(text_of(data).empty());
}

TEST(Safetensors, ATypeNobodyComputesWithFailsAtItsUse) {
  const SafetensorsFile file = SafetensorsFile::open(kMutants / "dtype_unknown.safetensors");
  const SafetensorsTensor& w = file.tensor("w");
  EXPECT_EQ(w.data.size(), 5U);
  EXPECT_EQ(w.dtype(), std::nullopt);
  const std::string message = message_of([&] { (void)w.require_dtype(); });
  for (const char* part : {"'w'", "('F1_X')", "dtype_unknown.safetensors", "F32, F16, BF16"}) {
    EXPECT_TRUE(contains(message, part)) << message;
  }
  const std::string rank = message_of([] {
    const auto deep = SafetensorsFile::open(kMutants / "valid_rank_9.safetensors");
    (void)deep.tensor("w").require_shape();
  });
  EXPECT_TRUE(contains(rank, "rank (9), but at most 4")) << rank;
}

TEST(Safetensors, ShardsGiveTheTensorsThatTheIndexNames) {
  const SafetensorsFile file = SafetensorsFile::open(kMutants / "valid.index.json");
  ASSERT_EQ(file.shards().size(), 2U);
  EXPECT_EQ(file.shards()[0].path, (kMutants / "a.safetensors").string());
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensor("z").file, (kMutants / "b.safetensors").string());
  EXPECT_EQ(file.tensor("y").data.size(), 8U);
  const SafetensorsFile part = SafetensorsFile::open(kMutants / "valid_part.index.json");
  EXPECT_EQ(part.tensors().size(), 1U);
  EXPECT_EQ(part.find("x"), nullptr);
}

TEST(Safetensors, ErrorsNameTheFileWhatWasFoundAndWhatIsAllowed) {
  const std::string entry = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"([1])", "does not begin with '{'"},
      {R"({"w":[1]})", "the entry 'w' must be an object, but there is (a list)"},
      {R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})",
       "the shape of the tensor 'w' must hold whole numbers from 0, but there is (a negative"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,true]}})",
       "the data_offsets of the tensor 'w' must hold whole numbers from 0, but there is (a bool)"},
      {R"({"w":{"dtype":"F32","shape":[2]}})", "has no field data_offsets"},
      {R"({"w":{"stride":1}})", "has the field 'stride', but fields are dtype, shape and"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", "from (0) to (9)"},
      {R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "(8) bytes, but needs 12"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "offset (4)"},
      {R"({"w":{)" + entry + R"(},"w":{)" + entry + "}}", "'w' occurs twice"},
      {R"({"\u001b[2J":{}})", "'\\x1B[2J'"},
      {R"({"w")", "wrong at byte (5)"},
  };
  for (const auto& [header, expected] : cases) {
    const std::string message = message_of_header(header, "12345678");
    EXPECT_TRUE(contains(message, expected)) << message << " lacks " << expected;
    EXPECT_TRUE(contains(
        message, "The safetensors file '" + std::filesystem::temp_directory_path().string()))
        << message;
  }
  const auto index = [](const char* name) {
    return message_of(
        [&] { SafetensorsFile::open(kMutants / (std::string(name) + ".index.json")); });
  };
  EXPECT_TRUE(contains(index("path_parent"), "'../safetensors_mutants/a.safetensors'"));
  EXPECT_TRUE(contains(index("path_parent"), "The safetensors index '"));
  EXPECT_TRUE(
      contains(index("tensor_elsewhere"), "'x' is said to lie in the file 'b.safetensors'"));
  EXPECT_TRUE(contains(index("shard_missing"), "c.safetensors': No such file"));
  EXPECT_TRUE(contains(message_of([] { SafetensorsFile::open("/absent.safetensors"); }),
                       "'/absent.safetensors'"));
}

TEST(Safetensors, AFileThatShrinksAfterOpeningIsReported) {
  const TempFile temp(packed(R"({"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "abc"));
  const SafetensorsFile file = SafetensorsFile::open(temp.path());
  EXPECT_NO_THROW(file.require_unchanged());
  std::filesystem::resize_file(temp.path(), 10);
  EXPECT_TRUE(contains(message_of([&] { file.require_unchanged(); }), "(10)"));
}

TEST(Safetensors, TruncationAtEveryOffsetIsAnError) {
  const TempFile temp;
  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(kMutants / "valid.safetensors", temp.path(), overwrite);
  EXPECT_NO_THROW(touch(SafetensorsFile::open(temp.path())));
  for (std::uint64_t size = std::filesystem::file_size(temp.path()); size-- > 0;) {
    std::filesystem::resize_file(temp.path(), size);
    EXPECT_THROW(SafetensorsFile::open(temp.path()), Error) << "cut to " << size;
  }
}

TEST(Safetensors, RandomDamageIsAnErrorOrLoads) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  std::ifstream stream(kMutants / "valid_metadata.safetensors", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(stream), {}};
  constexpr std::string_view kMarks = "{}[]\",:0123456789\\-e.tn ";
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (std::uint64_t change = random() % 6; change-- > 0;) {
      bytes[random() % bytes.size()] =
          random() % 2 == 0 ? kMarks[random() % kMarks.size()] : static_cast<char>(random());
    }
    try {
      touch(SafetensorsFile::over(std::as_bytes(std::span(bytes)), "damaged"));
    } catch (const Error& error) {
      ASSERT_TRUE(contains(error.what(), "'damaged'")) << error.what();
    }
  }
}

TEST(Safetensors, EveryMutantMeetsItsExpectation) {
  const std::vector<test::Mutant> mutants = test::mutants_in(kMutants);
  const long before_kib = peak_kib();
  for (const test::Mutant& mutant : mutants) {
    SCOPED_TRACE(mutant.name);
    const std::string message =
        message_of([&] { touch(SafetensorsFile::open(kMutants / mutant.name)); });
    if (mutant.expectation == "ok") {
      EXPECT_EQ(message, "no error");
    } else if (mutant.expectation == "reject") {
      EXPECT_NE(message, "no error");
      EXPECT_TRUE(contains(message, mutant.says)) << message << " lacks " << mutant.says;
    } else {
      EXPECT_EQ(mutant.expectation, "any");
    }
  }
  EXPECT_EQ(mutants.size(), 468U);
  EXPECT_LT(peak_kib() - before_kib, 64 * 1024);
}

}  // namespace
}  // namespace reprise
