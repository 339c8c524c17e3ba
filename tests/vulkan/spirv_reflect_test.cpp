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

/// What a type has behind its number, made of the one below it.
using Operands = std::vector<std::uint32_t> (*)(std::uint32_t below, std::uint32_t count);

/// A module with one variable that workgroups share: types inside of each other, `levels` of them;
/// the innermost ones are words.
std::vector<std::uint32_t> nested(spv::Op type, Operands operands_of, std::uint32_t levels,
                                  std::uint32_t count) {
  const std::uint32_t pointer = levels + 2, variable = levels + 3, main = levels + 4;
  std::vector<std::uint32_t> words{spv::MagicNumber, 0x10000, 0, levels + 5, 0};
  const auto add = [&](spv::Op op, const std::vector<std::uint32_t>& operands) {
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << spv::WordCountShift |
                    static_cast<std::uint32_t>(op));
    words.insert(words.end(), operands.begin(), operands.end());
  };
  add(spv::OpEntryPoint, {spv::ExecutionModelGLCompute, main, 'm'});
  add(spv::OpTypeInt, {1, 32, 0});
  for (std::uint32_t level = 1; level <= levels; ++level) {
    std::vector<std::uint32_t> operands = operands_of(level, count);
    operands.insert(operands.begin(), level + 1);
    add(type, operands);
  }
  add(spv::OpTypePointer, {pointer, spv::StorageClassWorkgroup, levels + 1});
  add(spv::OpVariable, {pointer, variable, spv::StorageClassWorkgroup});
  add(spv::OpFunctionEnd, {});
  return words;
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
  EXPECT_TRUE(refused(nested_structs(17, 1)));
}

TEST(SpirvReflect, RefusesVectorsOfVectors) {
  EXPECT_EQ(reflect_spirv(nested_vectors(1)).shared_bytes, 64U);
  EXPECT_TRUE(refused(nested_vectors(2)));
  EXPECT_TRUE(refused(nested_vectors(16)));
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
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint32_t> words = original;
    for (std::uint32_t changes = random() % 4U + 1; changes > 0; --changes) {
      std::uint32_t& word = words[random() % words.size()];
      const std::uint32_t flipped = word ^ (1U << (random() % 32U));
      word = random() % 2U == 0 ? static_cast<std::uint32_t>(random()) : flipped;
    }
    refusals += refused(words) ? 1 : 0;
  }
  EXPECT_GT(refusals, 0);
}

}  // namespace
}  // namespace reprise
