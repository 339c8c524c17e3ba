#include <algorithm>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/cpu/cpu_backend.h"
#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "framework/core/op.h"
#include "reprise/ops/op_named.h"

namespace reprise::cli {
namespace {

constexpr DTypeSet kAllTypes = (DTypeSet{1} << kDTypeCount) - 1;

std::string dtypes_of(const Operand& operand) {
  if ((operand.dtypes & kAllTypes) == kAllTypes) {
    return "any";
  }
  std::string text;
  for (std::size_t t = 0; t < kDTypeCount; ++t) {
    if ((operand.dtypes >> t & 1U) != 0) {
      text += (text.empty() ? "" : " ") + std::string(kDTypes[t].name);
    }
  }
  return text;
}

nlohmann::ordered_json to_json(const Operand& operand) {
  return {{"name", operand.name},
          {"dtypes", dtypes_of(operand)},
          {"optional", operand.optional},
          {"written", writes(operand.access)}};
}

/// Of its shaders, "portable" first.
std::string families_of(const OpDef& op) {
  std::string text = "portable";
  for (const KernelFamily family : {KernelFamily::lanes, KernelFamily::gpu}) {
    const std::string prefix = "." + std::string(name_of(family));
    for (const std::string_view shader : op.shaders) {
      if (shader.find(prefix) != std::string_view::npos) {
        text += " " + prefix.substr(1);
        break;
      }
    }
  }
  return text;
}

std::string_view name_of(AttributeType type) {
  switch (type) {
    case AttributeType::f32:
      return "f32";
    case AttributeType::i32:
      return "i32";
    case AttributeType::boolean:
      return "bool";
    case AttributeType::param_f32:
      return "f32 or state";
    case AttributeType::param_i32:
      return "i32 or state";
  }
  return "";
}

/// How recording applies ExtentRule to an operand: framework/core/recorder.cpp.
std::string_view extents_of(const OpDef& op) {
  switch (op.extents) {
    case ExtentRule::none:
      return "none";
    case ExtentRule::rows:
      return "operands of 2 dimensions or more";
    case ExtentRule::elements:
      return "all operands";
    case ExtentRule::indexed:
      return "all operands; results not that of the first";
  }
  return "";
}

nlohmann::ordered_json to_json(const OpDef& op) {
  nlohmann::ordered_json json{{"name", op.name}, {"family", reprise::name_of(op.family)}};
  for (const auto& [name, operands] :
       {std::pair{"operands", op.operands}, std::pair{"results", op.results}}) {
    json[name] = nlohmann::ordered_json::array();
    for (const Operand& operand : operands) {
      json[name].push_back(to_json(operand));
    }
  }
  json["attributes"] = nlohmann::ordered_json::array();
  for (const Attribute& attribute : op.attributes) {
    json["attributes"].push_back({{"name", attribute.name}, {"type", name_of(attribute.type)}});
  }
  json["extents"] = extents_of(op);
  json["vulkan"] = families_of(op);
  json["cpu"] = cpu::has_kernel(op.name) ? "kernel" : "reference";
  return json;
}

/// Every result is written: only operands say so.
std::string operand_cell(const nlohmann::ordered_json& operands, bool results) {
  std::string text;
  for (const auto& operand : operands) {
    text += (text.empty() ? "" : "; ") + operand["name"].get<std::string>() +
            (operand["written"].get<bool>() && !results ? " (written)" : "") +
            (operand["optional"].get<bool>() ? " (optional)" : "") + ": " +
            operand["dtypes"].get<std::string>();
  }
  return text;
}

std::string attribute_cell(const nlohmann::ordered_json& attributes) {
  std::string text;
  for (const auto& attribute : attributes) {
    text += (text.empty() ? "" : "; ") + attribute["name"].get<std::string>() + ": " +
            attribute["type"].get<std::string>();
  }
  return text;
}

}  // namespace

void print_ops(bool json) {
  std::vector<const OpDef*> ops(library_ops().begin(), library_ops().end());
  std::ranges::sort(ops, {}, &OpDef::name);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const OpDef* op : ops) {
    list.push_back(to_json(*op));
  }
  if (json) {
    print_json(list);
    return;
  }
  std::printf(
      "| op | work | operands | results | attributes | extents | Vulkan kernels | CPU |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const auto& op : list) {
    std::printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n",
                op["name"].get<std::string>().c_str(), op["family"].get<std::string>().c_str(),
                operand_cell(op["operands"], false).c_str(),
                operand_cell(op["results"], true).c_str(), attribute_cell(op["attributes"]).c_str(),
                op["extents"].get<std::string>().c_str(), op["vulkan"].get<std::string>().c_str(),
                op["cpu"].get<std::string>().c_str());
  }
}

}  // namespace reprise::cli
