#include "debugger/model/spirv_text.h"

#include <gmock/gmock.h>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tests/seed.h"

namespace reprise::debugger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Writes words of SPIR-V.
class Module {
 public:
  explicit Module(std::uint32_t ids) : words_{0x07230203, 0x00010000, 0, ids, 0} {
    op(17, {1});     // OpCapability Shader
    op(14, {0, 1});  // OpMemoryModel Logical GLSL450
  }
  Module& op(std::uint32_t code, std::vector<std::uint32_t> operands) {
    words_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | code);
    words_.insert(words_.end(), operands.begin(), operands.end());
    return *this;
  }
  Module& name(std::uint32_t id, std::string text) {
    std::vector<std::uint32_t> operands{id};
    text.resize(text.size() / 4 * 4 + 4);
    for (std::size_t i = 0; i < text.size(); i += 4) {
      std::uint32_t word = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i + c])) << (8 * c);
      }
      operands.push_back(word);
    }
    return op(5, operands);  // OpName
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<std::uint32_t> words_;
};

TEST(SpirvText, PutsNamesInPlaceOfNumbers) {
  const auto text = spirv_text(Module(10)
                                   .name(1, "width")
                                   .name(2, "twice")
                                   .name(3, "twice")
                                   .name(4, "of%5 \"x\"")
                                   .op(71, {1, 1, 7})   // OpDecorate %width SpecId 7
                                   .op(21, {5, 32, 0})  // OpTypeInt
                                   .op(50, {5, 1, 8})   // OpSpecConstant
                                   .op(43, {5, 2, 3})   // OpConstant
                                   .op(43, {5, 3, 4})
                                   .op(43, {5, 4, 5})
                                   .bytes());
  EXPECT_EQ(text.problem, "");
  EXPECT_THAT(text.lines, Contains(HasSubstr("%width = OpSpecConstant %5 8")));
  EXPECT_THAT(text.lines, Contains(HasSubstr("%twice_2 = OpConstant %5 3")));
  EXPECT_THAT(text.lines, Contains(HasSubstr("%twice_3 = OpConstant %5 4")));
  EXPECT_THAT(text.constants, ElementsAre(SpirvConstant{7, "width"}));
}

TEST(SpirvText, NamesTheConstantsOfTheWorkgroup) {
  const auto text = spirv_text(Module(10)
                                   .op(71, {4, 11, 25})      // BuiltIn WorkgroupSize
                                   .op(71, {1, 1, 0})        // SpecId 0
                                   .op(21, {5, 32, 0})       // OpTypeInt
                                   .op(23, {6, 5, 3})        // OpTypeVector
                                   .op(50, {5, 1, 8})        // OpSpecConstant
                                   .op(43, {5, 2, 1})        // OpConstant
                                   .op(51, {6, 4, 1, 2, 2})  // OpSpecConstantComposite
                                   .bytes());
  EXPECT_EQ(text.problem, "");
  EXPECT_THAT(text.constants, ElementsAre(SpirvConstant{0, "workgroup x"}));
}

TEST(SpirvText, ResultsStandBelowEachOther) {
  const auto text =
      spirv_text(Module(8).name(2, "word").op(21, {2, 32, 0}).op(22, {7, 32}).bytes());
  std::set<std::size_t> places;
  for (const std::string& line : text.lines) {
    if (line.find(" = ") != std::string::npos) {
      places.insert(line.find(" = "));
    }
  }
  EXPECT_EQ(places.size(), 1U);
}

TEST(SpirvText, SaysWhyItIsNone) {
  EXPECT_EQ(spirv_text({}).problem, "There is no code.");
  const auto whole = Module(4).bytes();
  EXPECT_THAT(spirv_text(whole.subspan(1, 7)).problem, HasSubstr("(7) bytes"));
  const std::vector<std::byte> zeros(64);
  EXPECT_THAT(spirv_text(zeros).problem, HasSubstr("This is no SPIR-V: "));
  const std::vector<std::byte> large(kMaxSpirvBytes + 4);
  EXPECT_THAT(spirv_text(large).problem, HasSubstr("at most 1 MiB"));
}

/// Their names would be as long as all memory if each were made of those it refers to.
TEST(SpirvText, ArraysOfArraysTakeNoMoreThanTheirWords) {
  Module module(1000);
  module.op(21, {1, 32, 0});
  for (std::uint32_t id = 2; id < 900; ++id) {
    module.op(28, {id, id - 1, id - 1});  // OpTypeArray
  }
  std::size_t bytes = 0;
  for (const std::string& line : spirv_text(module.bytes()).lines) {
    bytes += line.size();
  }
  EXPECT_LT(bytes, 100'000U);
}

TEST(SpirvText, LongNamesAreCut) {
  Module module(1000);
  module.name(1, std::string(5000, 'n')).op(21, {1, 32, 0});
  for (std::uint32_t id = 2; id < 900; ++id) {
    module.op(28, {id, 1, 1});
  }
  for (const std::string& line : spirv_text(module.bytes()).lines) {
    EXPECT_LT(line.size(), 600U);
  }
}

TEST(SpirvText, OfAnyWordsIsTextOrASentence) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937_64 random(seed);
  Module module(40);
  module.name(1, "a").op(21, {1, 32, 0}).op(71, {2, 1, 3}).op(50, {1, 2, 8}).op(28, {3, 1, 2});
  const auto whole = module.bytes();
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> code(whole.begin(), whole.end());
    for (std::uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
      code[random() % code.size()] = static_cast<std::byte>(random());
    }
    code.resize(random() % 3 == 0 ? random() % code.size() : code.size());
    const SpirvText text = spirv_text(code);
    EXPECT_NE(text.lines.empty(), text.problem.empty());
  }
}

}  // namespace
}  // namespace reprise::debugger
