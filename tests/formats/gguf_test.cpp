// GGUF files: right ones give exactly what they hold, wrong ones an Error and nothing else.
#include "reprise/formats/gguf.h"

#include <ctime>
#include <limits>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "reprise/core/error.h"
#include "tests/formats/gguf_builder.h"
#include "tests/formats/mutant_index.h"
#include "tests/seed.h"

namespace reprise {
namespace {

using test::GgufBuilder;
using test::raw;
using test::raw_text;
using test::TempFile;

std::string random_bytes(std::size_t count, std::mt19937& random) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random() & 0xFFU);
  }
  return bytes;
}

GgufBuilder small_file(std::mt19937& random) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama").number("general.alignment", 32);
  builder.texts("names", {"", "b", "long name"}).numbers<float>("scores", 6, {1.5F, -2.0F});
  builder.tensor("a", {32, 4}, 0, random_bytes(512, random));
  builder.tensor("b", {32, 3}, 8, random_bytes(102, random));
  builder.tensor("c", {5}, 1, random_bytes(10, random));
  return builder;
}

/// Reads every byte that the file offers, so that a sanitizer sees a view that is too long.
std::uint64_t touch(const GgufFile& file) {
  std::uint64_t sum = 0;
  for (const GgufValue& value : file.metadata()) {
    EXPECT_EQ(file.find_value(value.key()), &value);
    const auto read = [&](const auto& items) {
      for (const auto& item : items) {
        std::ostringstream text;
        text << item;
        sum += text.str().size();
      }
    };
    for (int accessor = 0; accessor < 7; ++accessor) {
      try {
        switch (accessor) {
          case 0:
            sum += static_cast<std::uint64_t>(value.as_integer());
            break;
          case 1:
            sum += value.as_real() > 0 ? 1U : 0U;
            break;
          case 2:
            sum += value.as_bool() ? 1U : 0U;
            break;
          case 3:
            read(std::vector{value.as_string()});
            break;
          case 4:
            read(value.as_integers());
            break;
          case 5:
            read(value.as_floats());
            break;
          default:
            read(value.as_strings());
            break;
        }
      } catch (const Error&) {  // the other types
      }
    }
  }
  for (const GgufTensor& tensor : file.tensors()) {
    EXPECT_EQ(file.find(tensor.name), &tensor);
    for (const std::byte byte : tensor.data) {
      sum += static_cast<std::uint64_t>(byte);
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

std::string message_of_opening(const std::string& bytes) {
  const TempFile file(bytes);
  return message_of([&] { GgufFile::open(file.path()); });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Gguf, MetadataOfEveryTypeIsReadAsWritten) {
  GgufBuilder builder;
  builder.value("u8", 0, raw<std::uint8_t>(250)).value("i8", 1, raw<std::int8_t>(-7));
  builder.value("u16", 2, raw<std::uint16_t>(65000)).value("i16", 3, raw<std::int16_t>(-300));
  builder.value("u32", 4, raw<std::uint32_t>(4000000000))
      .value("i32", 5, raw<std::int32_t>(-70000));
  builder.value("f32", 6, raw(1.25F)).value("f64", 12, raw(-2.5e-300)).boolean("yes", true);
  builder.boolean("no", false).text("text", "caf\xC3\xA9").text("empty", "");
  builder.value("u64", 10, raw<std::uint64_t>(1ULL << 40U));
  builder.value("i64", 11, raw(std::numeric_limits<std::int64_t>::min()));
  builder.numbers<std::int32_t>("list", 5, {3, -4, 5}).numbers<float>("floats", 6, {0.5F, -8.0F});
  builder.texts("texts", {"x", "", std::string("a\0b", 3)}).numbers<float>("none", 6, {});
  const TempFile temp(builder.bytes());
  const GgufFile file = GgufFile::open(temp.path());

  EXPECT_EQ(file.version(), 3U);
  EXPECT_EQ(file.alignment(), 32U);
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_EQ(file.value("u8").as_integer(), 250);
  EXPECT_EQ(file.value("i8").as_integer(), -7);
  EXPECT_EQ(file.value("u16").as_integer(), 65000);
  EXPECT_EQ(file.value("i16").as_integer(), -300);
  EXPECT_EQ(file.value("u32").as_integer(), 4000000000);
  EXPECT_EQ(file.value("i32").as_integer(), -70000);
  EXPECT_EQ(file.value("u64").as_integer(), std::int64_t{1} << 40U);
  EXPECT_EQ(file.value("i64").as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(file.value("f32").as_real(), 1.25);
  EXPECT_EQ(file.value("f64").as_real(), -2.5e-300);
  EXPECT_TRUE(file.value("yes").as_bool());
  EXPECT_FALSE(file.value("no").as_bool());
  EXPECT_EQ(file.value("text").as_string(), "caf\xC3\xA9");
  EXPECT_EQ(file.value("empty").as_string(), "");
  EXPECT_EQ(file.value("list").as_integers(), (std::vector<std::int64_t>{3, -4, 5}));
  EXPECT_EQ(file.value("floats").as_floats(), (std::vector<float>{0.5F, -8.0F}));
  EXPECT_EQ(file.value("texts").as_strings(),
            (std::vector<std::string_view>{"x", "", std::string_view("a\0b", 3)}));
  EXPECT_TRUE(file.value("none").as_floats().empty());
  EXPECT_EQ(file.find_value("absent"), nullptr);
}

TEST(Gguf, TensorsAreViewsOfTheFileWithReversedDimensions) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const std::string a = random_bytes(std::size_t{6} * 64 / 32 * 34, random);
  const std::string b = random_bytes(20, random);
  const std::string c = random_bytes(66, random);
  const TempFile temp(GgufBuilder()
                          .tensor("a", {64, 3, 2}, 8, a)
                          .tensor("b", {5}, 0, b)
                          .tensor("c", {256}, 16, c)
                          .bytes());
  const GgufFile file = GgufFile::open(temp.path());
  const auto bytes_of = [](const GgufTensor& tensor) {
    return std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  };

  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensor("a").shape, (Shape{2, 3, 64}));
  EXPECT_EQ(file.tensor("a").dtype(), DType::q8_0);
  EXPECT_EQ(bytes_of(file.tensor("a")), a);
  EXPECT_EQ(file.tensor("b").shape, (Shape{5}));
  EXPECT_EQ(file.tensor("b").require_dtype(), DType::f32);
  EXPECT_EQ(bytes_of(file.tensor("b")), b);
  EXPECT_EQ(bytes_of(file.tensor("c")), c);
}

TEST(Gguf, ATypeWithoutKernelsLoadsAndOnlyItsUseFails) {
  const TempFile temp(GgufBuilder().tensor("w", {256}, 16, std::string(66, 'x')).bytes());
  const GgufFile file = GgufFile::open(temp.path());
  EXPECT_EQ(file.tensor("w").type_name, "iq2_xxs");
  EXPECT_EQ(file.tensor("w").dtype(), std::nullopt);
  const std::string message = message_of([&] { file.tensor("w").require_dtype(); });
  EXPECT_TRUE(contains(message, "'w'") && contains(message, "(iq2_xxs)")) << message;
}

TEST(Gguf, TensorBytesOutliveTheFileHandleThroughItsStorage) {
  const TempFile temp(GgufBuilder().tensor("w", {2}, 0, "12345678").bytes());
  std::shared_ptr<const void> storage;
  std::span<const std::byte> data;
  {
    const GgufFile file = GgufFile::open(temp.path());
    storage = file.storage();
    data = file.tensor("w").data;
  }
  EXPECT_EQ(std::memcmp(data.data(), "12345678", 8), 0);
}

TEST(Gguf, WrongTypeErrorsNameTheKeyTheTypeAndTheWantedType) {
  const TempFile temp(GgufBuilder()
                          .text("name", "x")
                          .number("count", 7)
                          .value("huge", 10, raw(~std::uint64_t{0}))
                          .bytes());
  const GgufFile file = GgufFile::open(temp.path());
  const std::string wrong = message_of([&] { file.value("name").as_integer(); });
  EXPECT_TRUE(contains(wrong, "'name'") && contains(wrong, "(string)") &&
              contains(wrong, "an integer"))
      << wrong;
  const std::string scalar = message_of([&] { file.value("count").as_integers(); });
  EXPECT_TRUE(contains(scalar, "(u32)") && contains(scalar, "an array")) << scalar;
  const std::string range = message_of([&] { file.value("count").as_integer(0, 6); });
  EXPECT_TRUE(contains(range, "(7)") && contains(range, "[0, 6]")) << range;
  EXPECT_TRUE(
      contains(message_of([&] { file.value("huge").as_integer(); }), "18446744073709551615"));
  EXPECT_TRUE(contains(message_of([&] { file.value("absent"); }), "'absent'"));
  EXPECT_TRUE(contains(message_of([&] { file.tensor("absent"); }), "'absent'"));
}

TEST(Gguf, ErrorsSayWhereAndWhy) {
  std::mt19937 random(1);
  const std::string good = small_file(random).bytes();
  EXPECT_TRUE(contains(message_of_opening(""), "the magic at offset 0 needs (4) bytes"));
  EXPECT_TRUE(contains(message_of_opening("GGML" + good.substr(4)), "not 'GGUF'"));
  EXPECT_TRUE(contains(message_of_opening("GGUF" + raw<std::uint32_t>(4) + good.substr(8)), "(4)"));
  const std::string cut = message_of_opening(good.substr(0, good.size() - 1));
  EXPECT_TRUE(contains(cut, "'c'") && contains(cut, "(650)") && contains(cut, "649")) << cut;
  EXPECT_TRUE(contains(message_of_opening(GgufBuilder().tensor("w", {0}, 0, "").bytes()), "(0)"));
}

TEST(Gguf, BytesOfTheCallersAreReadInPlace) {
  const std::string bytes = GgufBuilder().tensor("w", {3}, 24, "abc").bytes();  // i8
  const GgufFile file = GgufFile::over(std::as_bytes(std::span(bytes)), "memory");
  const std::span<const std::byte> data = file.tensor("w").data;
  EXPECT_EQ(data.size(), 3U);
  EXPECT_EQ(static_cast<const void*>(data.data()), bytes.data() + bytes.size() - 3);
  EXPECT_EQ(file.path(), "memory");
  EXPECT_NO_THROW(file.require_unchanged());
  EXPECT_TRUE(contains(message_of([&] { (void)file.tensor("v"); }), "'memory'"));
}

TEST(Gguf, KeysHaveAtMost65535Bytes) {
  const auto opening = [](std::size_t bytes) {
    return message_of_opening(GgufBuilder().number(std::string(bytes, 'k'), 1).bytes());
  };
  EXPECT_EQ(opening(65535), "no error");
  const std::string message = opening(65536);
  EXPECT_TRUE(contains(message, "a metadata key has (65536) bytes, but must have 1 to 65535."))
      << message;
}

TEST(Gguf, HostileNamesAreEscapedInErrors) {
  const std::string name = "\x1b[2J\n\xFF" + std::string(500, 'n');
  const std::string message =
      message_of_opening(GgufBuilder().tensor(name, {1}, 0, "1234").bytes());
  EXPECT_TRUE(contains(message, "'\\x1B[2J\\x0A\\xFF")) << message;
  EXPECT_LT(message.size(), 500U);
}

TEST(Gguf, PathsThatAreNoReadableFileAreErrors) {
  EXPECT_TRUE(
      contains(message_of([] { GgufFile::open("/absent/file.gguf"); }), "'/absent/file.gguf'"));
  EXPECT_TRUE(contains(message_of([] { GgufFile::open("/"); }), "not a regular file"));
  const std::string pipe = ::testing::TempDir() + "reprise_pipe_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(contains(message_of([&] { GgufFile::open(pipe); }), "not a regular file"));
  std::filesystem::remove(pipe);
}

TEST(Gguf, AFileThatShrinksAfterOpeningIsReported) {
  const TempFile temp(GgufBuilder().tensor("w", {2}, 0, "12345678").bytes());
  const GgufFile file = GgufFile::open(temp.path());
  EXPECT_NO_THROW(file.require_unchanged());
  std::filesystem::resize_file(temp.path(), 10);
  EXPECT_TRUE(contains(message_of([&] { file.require_unchanged(); }), "(10)"));
}

TEST(Gguf, TruncationAtEveryOffsetIsAnError) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const std::string good = small_file(random).bytes();
  const TempFile temp(good);
  EXPECT_NO_THROW(touch(GgufFile::open(temp.path())));
  for (std::size_t size = good.size(); size-- > 0;) {
    std::filesystem::resize_file(temp.path(), size);
    EXPECT_THROW(GgufFile::open(temp.path()), Error) << "cut to " << size;
  }
}

TEST(Gguf, RandomDamageIsAnErrorThatNamesTheFileOrLoads) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const std::string good = small_file(random).bytes();
  const TempFile temp;
  int loaded = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (std::uint64_t change = random() % 6; change-- > 0;) {
      const std::uint64_t kind = random() % 3;
      bytes[random() % 420] = static_cast<char>(kind == 0 ? random() : (kind == 1 ? 0xFFU : 0U));
    }
    temp.write(bytes);
    try {
      touch(GgufFile::open(temp.path()));
      ++loaded;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(temp.path().filename()), std::string::npos)
          << error.what();
      ++refused;
    }
  }
  EXPECT_GT(loaded, 100) << "rounds without a change, and those that change values alone";
  EXPECT_GT(refused, 100);
}

TEST(Gguf, EveryMutantMeetsItsExpectation) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::clock_t kMaxClock = 20 * CLOCKS_PER_SEC;
#else
  constexpr std::clock_t kMaxClock = 2 * CLOCKS_PER_SEC;
#endif
  const std::filesystem::path folder = REPRISE_GGUF_MUTANTS_DIR;
  const std::vector<test::Mutant> mutants = test::mutants_in(folder);
  const long before_kib = peak_kib();
  for (const auto& [name, kind, expectation, says] : mutants) {
    SCOPED_TRACE(name);
    const std::clock_t start = std::clock();  // of the processor: others may keep it busy
    std::string message;
    try {
      touch(GgufFile::open(folder / (name + ".gguf")));
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_LT(std::clock() - start, kMaxClock);
    if (expectation == "ok") {
      EXPECT_EQ(message, "");
    } else if (expectation == "reject") {
      EXPECT_NE(message, "");
      EXPECT_TRUE(contains(message, says)) << message << " lacks " << says;
    } else {
      EXPECT_EQ(expectation, "any");
    }
  }
  EXPECT_EQ(mutants.size(), 399U);
  EXPECT_LT(peak_kib() - before_kib, 64 * 1024);
}

}  // namespace
}  // namespace reprise
