#include "debugger/model/node_changes.h"

#include <map>

#include "debugger/model/node_details.h"

namespace reprise::debugger {
namespace {

using Facts = std::map<std::string, std::string>;  // by name

Facts attributes_by_name(const Capture::Node& node) {
  Facts facts;
  for (const Attribute& attribute : attributes_of(node)) {
    facts[attribute.name.empty() ? "attributes" : attribute.name] =
        (attribute.from_state ? "state " : "") + attribute.value;
  }
  return facts;
}

Facts operands_by_name(const Capture& capture, const Capture::Node& node) {
  Facts facts;
  for (std::uint32_t o = 0; o < node.operands.count; ++o) {
    const Capture::Operand& operand = capture.operands[node.operands.first + o];
    const Capture::Tensor& tensor = capture.tensors[operand.tensor];
    facts.emplace(operand.name, tensor.dtype + " " + tensor.shape_json);
  }
  return facts;
}

/// Names that the program gave, of weights, inputs and state.
Facts names_by_operand(const Capture& capture, const Capture::Node& node) {
  Facts facts;
  for (std::uint32_t o = 0; o < node.operands.count; ++o) {
    const Capture::Operand& operand = capture.operands[node.operands.first + o];
    if (const std::string* name = given_name(capture.tensors[operand.tensor])) {
      facts.emplace(operand.name, "'" + *name + "'");
    }
  }
  return facts;
}

void add_changes(const Facts& a, const Facts& b, std::vector<std::string>& changes) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      changes.push_back(name + " gone");
    } else if (other->second != value) {
      changes.push_back(name + " " + value + " to " + other->second);
    }
  }
  for (const auto& [name, value] : b) {
    if (!a.contains(name)) {
      changes.push_back(name + " new: " + value);
    }
  }
}

}  // namespace

const std::string* given_name(const Capture::Tensor& tensor) {
  const bool given = tensor.role == "param" || tensor.role == "input" || tensor.role == "state";
  return given && !tensor.name.empty() ? &tensor.name : nullptr;
}

std::vector<std::string> node_changes(const Capture& a, std::uint32_t node_a, const Capture& b,
                                      std::uint32_t node_b) {
  const Capture::Node& in_a = a.nodes[node_a];
  const Capture::Node& in_b = b.nodes[node_b];
  std::vector<std::string> changes;
  add_changes(attributes_by_name(in_a), attributes_by_name(in_b), changes);
  add_changes(operands_by_name(a, in_a), operands_by_name(b, in_b), changes);
  Facts names_a = names_by_operand(a, in_a), names_b = names_by_operand(b, in_b);
  std::erase_if(names_a, [&](const auto& fact) { return !names_b.contains(fact.first); });
  std::erase_if(names_b, [&](const auto& fact) { return !names_a.contains(fact.first); });
  add_changes(names_a, names_b, changes);
  const std::string kernels_a = kernels_text(a, in_a), kernels_b = kernels_text(b, in_b);
  if (kernels_a != kernels_b) {
    changes.push_back("kernel " + kernels_a + " to " + kernels_b);
  }
  if (in_a.steps.count != in_b.steps.count) {
    changes.push_back(std::to_string(in_a.steps.count) + " steps to " +
                      std::to_string(in_b.steps.count));
  }
  return changes;
}

}  // namespace reprise::debugger
