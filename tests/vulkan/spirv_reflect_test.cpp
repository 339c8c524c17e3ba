// Reflection of the program's own shaders, and of damaged ones: it throws or answers, nothing else.
#include <random>

#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp>

#include "reprise/backend/shader_interface.h"
#include "reprise/core/error.h"
#include "shaders/shader_table.h"
#include "tests/expect_error.h"
#include "tests/seed.h"

namespace reprise {
namespace {

std::vector<std::uint32_t> rms_norm() {
  const shaders::Shader* shader = shaders::find("rms_norm");
  return {shader->spirv.begin(), shader->spirv.end()};
}

/// True if it throws; anything else than an Error escapes.
bool refused(std::span<const std::uint32_t> words) {
  try {
    reflect_spirv(words);
    return false;
  } catch (const Error&) {
    return true;
  }
}

TEST(SpirvReflect, ReadsTheInterfaceOfAShader) {
  const ShaderInterface shader = reflect_spirv(rms_norm());
  ASSERT_EQ(shader.bindings.size(), 4U);
  EXPECT_TRUE(shader.bindings.at(0).readonly);
  EXPECT_FALSE(shader.bindings.at(0).writeonly);
  EXPECT_TRUE(shader.bindings.at(1).readonly);
  EXPECT_TRUE(shader.bindings.at(2).writeonly);
  EXPECT_FALSE(shader.bindings.at(2).readonly);
  EXPECT_EQ(shader.bindings.at(2).kind, ShaderBindingKind::storage);
  EXPECT_EQ(shader.bindings.at(3).kind, ShaderBindingKind::uniform);
  EXPECT_EQ(shader.local_size_ids[0], 0U);
  EXPECT_EQ(shader.local_size_ids[1], ShaderInterface::kNoConstant);
  EXPECT_EQ(shader.local_size[1], 1U);
  EXPECT_EQ(shader.push_bytes, 52U);  // 4 words of shape, a View of 5, 4 words
}

TEST(SpirvReflect, TellsTexelBuffersFromOthers) {
  const ShaderInterface shader = reflect_spirv(shaders::find("matmul.lanes_f32")->spirv);
  ASSERT_EQ(shader.bindings.size(), 4U);
  for (const std::uint32_t binding : {0U, 1U}) {
    EXPECT_EQ(shader.bindings.at(binding).kind, ShaderBindingKind::texels);
    EXPECT_TRUE(shader.bindings.at(binding).readonly);
    EXPECT_FALSE(shader.bindings.at(binding).writeonly);
  }
  for (const std::uint32_t binding : {2U, 3U}) {
    EXPECT_EQ(shader.bindings.at(binding).kind, ShaderBindingKind::storage);
  }
}

TEST(SpirvReflect, AcceptsEveryShaderOfTheProgram) {
  for (const shaders::Shader& shader : shaders::all()) {
    EXPECT_FALSE(refused(shader.spirv)) << shader.name;
  }
}

using Instructions = std::vector<std::pair<spv::Op, std::vector<std::uint32_t>>>;

std::vector<std::uint32_t> module_of(const Instructions& instructions) {
  constexpr std::uint32_t kIds = 100;
  std::vector<std::uint32_t> words{spv::MagicNumber, 0x10000, 0, kIds, 0};
  for (const auto& [op, operands] : instructions) {
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << spv::WordCountShift |
                    static_cast<std::uint32_t>(op));
    words.insert(words.end(), operands.begin(), operands.end());
  }
  return words;
}

/// Between the entry point, which is id 1, and the end of its function; id 2 is a type of words.
std::vector<std::uint32_t> shader_of(const Instructions& instructions) {
  Instructions all{{spv::OpEntryPoint, {spv::ExecutionModelGLCompute, 1, 'm'}},
                   {spv::OpTypeInt, {2, 32, 0}}};
  all.insert(all.end(), instructions.begin(), instructions.end());
  all.emplace_back(spv::OpFunctionEnd, std::vector<std::uint32_t>{});
  return module_of(all);
}

/// With a block of push constants that has one member, of type 3, at offset 0.
std::vector<std::uint32_t> shader_with_push(Instructions type_3) {
  const Instructions block{{spv::OpTypeStruct, {10, 3}},
                           {spv::OpMemberDecorate, {10, 0, spv::DecorationOffset, 0}},
                           {spv::OpTypePointer, {11, spv::StorageClassPushConstant, 10}},
                           {spv::OpVariable, {11, 12, spv::StorageClassPushConstant}}};
  type_3.insert(type_3.end(), block.begin(), block.end());
  return shader_of(type_3);
}

/// An array of so many words, as type 3.
Instructions array_of_words(std::uint32_t length) {
  return {{spv::OpConstant, {2, 4, length}}, {spv::OpTypeArray, {3, 2, 4}}};
}
Instructions strided_array_of_words(std::uint32_t length) {
  Instructions array = array_of_words(length);
  array.push_back({spv::OpDecorate, {3, spv::DecorationArrayStride, 4}});
  return array;
}

/// With a buffer of one word in a variable for each of `decorations`.
std::vector<std::uint32_t> shader_with_buffers(const std::vector<Instructions>& decorations) {
  Instructions all{{spv::OpTypeStruct, {3, 2}},
                   {spv::OpTypePointer, {4, spv::StorageClassStorageBuffer, 3}}};
  std::uint32_t variable = 5;
  for (const Instructions& of_one : decorations) {
    for (auto [op, operands] : of_one) {
      operands.insert(operands.begin(), variable);
      all.emplace_back(op, operands);
    }
    all.push_back({spv::OpVariable, {4, variable++, spv::StorageClassStorageBuffer}});
  }
  return shader_of(all);
}

/// What a type has behind its number, made of the one below it.
using Operands = std::vector<std::uint32_t> (*)(std::uint32_t below, std::uint32_t count);

/// A module with one variable that workgroups share: types inside of each other, `levels` of them;
/// the innermost ones are words.
std::vector<std::uint32_t> nested(spv::Op type, Operands operands_of, std::uint32_t levels,
                                  std::uint32_t count) {
  const std::uint32_t pointer = levels + 3, variable = levels + 4;
  Instructions all;
  for (std::uint32_t level = 1; level <= levels; ++level) {
    std::vector<std::uint32_t> operands = operands_of(level + 1, count);
    operands.insert(operands.begin(), level + 2);
    all.emplace_back(type, operands);
  }
  all.push_back({spv::OpTypePointer, {pointer, spv::StorageClassWorkgroup, levels + 2}});
  all.push_back({spv::OpVariable, {pointer, variable, spv::StorageClassWorkgroup}});
  return shader_of(all);
}

std::vector<std::uint32_t> nested_structs(std::uint32_t levels, std::uint32_t members) {
  const Operands all = [](std::uint32_t below, std::uint32_t count) {
    return std::vector<std::uint32_t>(count, below);
  };
  return nested(spv::OpTypeStruct, all, levels, members);
}

std::vector<std::uint32_t> nested_vectors(std::uint32_t levels) {
  const Operands of = [](std::uint32_t below, std::uint32_t count) {
    return std::vector<std::uint32_t>{below, count};
  };
  return nested(spv::OpTypeVector, of, levels, 16);
}

// One visit per member and level; one per path through them, 2^36, would not end.
TEST(SpirvReflect, VisitsATypeOnceHoweverOftenItIsUsed) {
  EXPECT_EQ(reflect_spirv(nested_structs(9, 16)).shared_bytes, std::uint64_t{4} << 36U);
}

TEST(SpirvReflect, RefusesTypesThatAreNestedTooDeep) {
  EXPECT_FALSE(refused(nested_structs(16, 1)));
  testing::expect_error(ErrorCode::invalid_argument, {"a type is nested deeper than 16"},
                        [] { reflect_spirv(nested_structs(17, 1)); });
}

TEST(SpirvReflect, RefusesVectorsOfVectors) {
  EXPECT_EQ(reflect_spirv(nested_vectors(1)).shared_bytes, 64U);
  for (const std::uint32_t levels : {2U, 16U}) {
    testing::expect_error(ErrorCode::invalid_argument, {"a vector is not made of numbers"},
                          [&] { reflect_spirv(nested_vectors(levels)); });
  }
}

TEST(SpirvReflect, SaysWhatIsMalformed) {
  const auto is_malformed = [](const std::string& what, const std::vector<std::uint32_t>& words) {
    testing::expect_error(ErrorCode::invalid_argument,
                          {"The SPIR-V module is malformed: " + what + "."},
                          [&] { reflect_spirv(words); });
  };
  is_malformed("it does not start with the magic number of SPIR-V", {});
  is_malformed("the instruction at word (5) of 6 has a length of (0)",
               {spv::MagicNumber, 0x10000, 0, 100, 0, spv::OpFunctionEnd});
  is_malformed("an instruction of (1) words is too short", shader_of({{spv::OpTypeInt, {}}}));
  is_malformed("it does not end with a function",
               module_of({{spv::OpEntryPoint, {spv::ExecutionModelGLCompute, 1, 'm'}}}));
  is_malformed("id (3) is defined twice",
               shader_of({{spv::OpTypeFloat, {3, 32}}, {spv::OpTypeBool, {3}}}));
  is_malformed("id (9) is used but not defined",
               shader_of({{spv::OpVariable, {9, 3, spv::StorageClassStorageBuffer}}}));
  is_malformed("a variable has no pointer type",
               shader_of({{spv::OpVariable, {2, 3, spv::StorageClassStorageBuffer}}}));
  is_malformed("the workgroup size is not made of constants",
               shader_of({{spv::OpExecutionModeId, {1, spv::ExecutionModeLocalSizeId, 2, 2, 2}}}));
  is_malformed("an array of push constants has no constant length and stride",
               shader_with_push(array_of_words(4)));
  is_malformed("push constants need more than 65536 bytes",
               shader_with_push(strided_array_of_words(16385)));
  is_malformed("a member of the push constants has no offset",
               shader_with_push({{spv::OpTypeStruct, {3, 2}}}));
}

TEST(SpirvReflect, SaysWhatIsUnsupported) {
  const auto is_unsupported = [](const std::string& what, const std::vector<std::uint32_t>& words) {
    testing::expect_error(ErrorCode::unsupported, {"The SPIR-V module uses " + what + "."},
                          [&] { reflect_spirv(words); });
  };
  is_unsupported("no compute entry point", module_of({{spv::OpFunctionEnd, {}}}));
  is_unsupported("no compute entry point",
                 module_of({{spv::OpEntryPoint, {spv::ExecutionModelFragment, 1, 'm'}},
                            {spv::OpFunctionEnd, {}}}));
  is_unsupported("push constants of a type that is no number, vector, array or struct",
                 shader_with_push({{spv::OpTypeBool, {3}}}));
  is_unsupported("binding (0) as something else than one buffer",
                 shader_of({{spv::OpTypePointer, {3, spv::StorageClassStorageBuffer, 2}},
                            {spv::OpVariable, {3, 4, spv::StorageClassStorageBuffer}}}));
  is_unsupported("a buffer without a binding in set 0", shader_with_buffers({Instructions{}}));
  is_unsupported("a buffer without a binding in set 0",
                 shader_with_buffers({{{spv::OpDecorate, {spv::DecorationBinding, 0}},
                                       {spv::OpDecorate, {spv::DecorationDescriptorSet, 1}}}}));
  const Instructions at_7{{spv::OpDecorate, {spv::DecorationBinding, 7}}};
  EXPECT_EQ(reflect_spirv(shader_with_buffers({at_7})).bindings.count(7), 1U);
  is_unsupported("binding (7) for two buffers", shader_with_buffers({at_7, at_7}));
}

TEST(SpirvReflect, CountsPushConstantsUpToTheEndOfTheLast) {
  EXPECT_EQ(reflect_spirv(shader_with_push(strided_array_of_words(4))).push_bytes, 16U);
  EXPECT_EQ(reflect_spirv(shader_with_push(strided_array_of_words(16384))).push_bytes, 65536U);
}

TEST(SpirvReflect, ReadsTheWorkgroupSizeOfAnExecutionModeWithIds) {
  const ShaderInterface shader = reflect_spirv(
      shader_of({{spv::OpExecutionModeId, {1, spv::ExecutionModeLocalSizeId, 3, 4, 5}},
                 {spv::OpDecorate, {4, spv::DecorationSpecId, 7}},
                 {spv::OpConstant, {2, 3, 8}},
                 {spv::OpSpecConstant, {2, 4, 6}},
                 {spv::OpConstant, {2, 5, 2}}}));
  constexpr std::uint32_t kNone = ShaderInterface::kNoConstant;
  EXPECT_EQ(shader.local_size, (std::array<std::uint32_t, 3>{8, 6, 2}));
  EXPECT_EQ(shader.local_size_ids, (std::array<std::uint32_t, 3>{kNone, 7, kNone}));
}

// A workgroup size could be that of the other one.
TEST(SpirvReflect, RefusesASecondEntryPoint) {
  std::vector<std::uint32_t> words = nested_structs(1, 1);
  const auto entry = words.begin() + 5;  // behind the header
  const std::vector<std::uint32_t> again(entry, entry + (*entry >> spv::WordCountShift));
  words.insert(entry, again.begin(), again.end());
  testing::expect_error(ErrorCode::unsupported, {"more than one entry point"},
                        [&] { reflect_spirv(words); });
}

TEST(SpirvReflect, RejectsEveryTruncationInsideTheDeclarations) {
  const std::vector<std::uint32_t> words = rms_norm();
  for (std::size_t size = 0; size < 100; ++size) {
    EXPECT_TRUE(refused(std::span(words).first(size))) << size;
  }
}

TEST(SpirvReflect, SurvivesRandomChanges) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(test::seed_note(seed));
  std::mt19937 random(seed);
  const std::vector<std::uint32_t> original = rms_norm();
  int refusals = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::uint32_t> words = original;
    for (std::uint32_t changes = random() % 4U + 1; changes > 0; --changes) {
      std::uint32_t& word = words[random() % words.size()];
      const std::uint32_t flipped = word ^ (1U << (random() % 32U));
      word = random() % 2U == 0 ? static_cast<std::uint32_t>(random()) : flipped;
    }
    refusals += refused(words) ? 1 : 0;
  }
  // Of every three rounds, one at least changes the length of an instruction to what cannot be.
  EXPECT_GT(refusals, kRounds / 4);
}

}  // namespace
}  // namespace reprise
