// The SPIR-V of every op against its schema, without a device.
#include "reprise/backend/shader_interface.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "framework/core/op.h"
#include "reprise/ops/op_named.h"
#include "shaders/shader_table.h"

namespace reprise {
namespace {

TEST(ShaderInterface, MatchesTheSchemaOfTheOp) {
  for (const OpDef* op : library_ops()) {
    for (const std::string_view name : op->shaders) {
      SCOPED_TRACE(std::string(name));
      const shaders::Shader* shader = shaders::find(name);
      ASSERT_NE(shader, nullptr);
      const ShaderInterface interface = reflect_spirv(shader->spirv);
      EXPECT_EQ(interface.push_bytes, op->push_bytes);
      const std::size_t operands = op->operands.size();
      const std::size_t tensors = operands + op->results.size();
      ASSERT_EQ(interface.bindings.size(), tensors + (op->reads_state() ? 1 : 0));
      for (std::size_t b = 0; b < interface.bindings.size(); ++b) {
        const auto& binding = interface.bindings.at(static_cast<std::uint32_t>(b));
        const bool is_state = b == tensors;
        EXPECT_EQ(binding.kind == ShaderBindingKind::uniform, is_state) << "binding " << b;
        const Access access = b < operands ? op->operands[b].access
                              : is_state   ? Access::read
                                           : Access::write;
        EXPECT_EQ(binding.readonly, !writes(access)) << "binding " << b;
      }
    }
  }
}

TEST(ShaderInterface, EveryShaderBelongsToAnOp) {
  std::set<std::string_view> named;
  for (const OpDef* op : library_ops()) {
    EXPECT_FALSE(op->shaders.empty()) << op->name;
    named.insert(op->shaders.begin(), op->shaders.end());
  }
  for (const shaders::Shader& shader : shaders::all()) {
    EXPECT_TRUE(named.contains(shader.name)) << shader.name;
  }
}

TEST(ShaderInterface, TheWorkgroupSizeIsSpecializationConstantZero) {
  for (const shaders::Shader& shader : shaders::all()) {
    const ShaderInterface interface = reflect_spirv(shader.spirv);
    const bool one_invocation = interface.local_size == std::array<std::uint32_t, 3>{1, 1, 1} &&
                                interface.local_size_ids[0] == ShaderInterface::kNoConstant;
    EXPECT_TRUE(one_invocation || interface.local_size_ids[0] == 0U) << shader.name;
  }
}

}  // namespace
}  // namespace reprise
