#include "reprise/ops/op_named.h"

#include <algorithm>

#include "framework/core/op.h"

namespace reprise {
namespace {

std::string_view name_of(AttributeType type) {
  constexpr std::array<std::string_view, 5> kNames{"f32", "i32", "boolean", "param_i32",
                                                   "param_f32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string text_of(const Operand& operand) {
  constexpr std::array<std::string_view, 4> kAccess{"", "r", "w", "rw"};
  return std::string(operand.name) + " " +
         std::string(kAccess[static_cast<std::size_t>(operand.access)]) +
         (operand.optional ? "?" : "") + ";";
}

}  // namespace

const OpDef* op_named(std::string_view name) {
  const auto all = library_ops();
  const auto it = std::ranges::find(all, name, [](const OpDef* op) { return op->name; });
  return it == all.end() ? nullptr : *it;
}

std::string schema_text(const OpDef& op) {
  std::string text = "operands ";
  for (const Operand& operand : op.operands) {
    text += text_of(operand);
  }
  text += " results ";
  for (const Operand& result : op.results) {
    text += text_of(result);
  }
  text += " attributes ";
  for (const Attribute& a : op.attributes) {
    text += std::string(a.name) + " " + std::string(name_of(a.type)) + " " +
            std::to_string(a.offset) + ";";
  }
  return text;
}

}  // namespace reprise
