#include "debugger/model/node_details.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace reprise::debugger {
namespace {

using nlohmann::json;

/// Attributes nest no deeper; printing JSON takes stack for every level.
constexpr int kDeepest = 16;
constexpr std::size_t kMaxJson = 65'536;

bool is_shallow(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    depth += (c == '{' || c == '[' ? 1 : 0) - (c == '}' || c == ']' ? 1 : 0);
    deepest = std::max(deepest, depth);
  }
  return deepest <= kDeepest;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::vector<bool> nodes_with_barriers(const Capture& capture) {
  std::vector<bool> found(capture.nodes.size(), false);
  for (const Capture::Barrier& barrier : capture.barriers) {
    if (barrier.emitted && capture.steps[barrier.before_step].node) {
      found[*capture.steps[barrier.before_step].node] = true;
    }
  }
  return found;
}

std::string kernels_text(const Capture& capture, const Capture::Node& node) {
  std::vector<std::uint32_t> seen;
  std::string text;
  for (std::uint32_t i = 0; i < node.steps.count; ++i) {
    const auto kernel = capture.steps[capture.step_order[node.steps.first + i]].kernel;
    if (kernel && std::find(seen.begin(), seen.end(), *kernel) == seen.end()) {
      seen.push_back(*kernel);
      text += (text.empty() ? "" : ", ") + capture.kernels[*kernel].name;
    }
  }
  return text;
}

std::string source_text(const Capture::Node& node) {
  return node.source_file.empty() ? std::string()
                                  : node.source_file + ":" + std::to_string(node.source_line);
}

std::string short_source_text(const Capture::Node& node) {
  const std::string text = source_text(node);
  return text.substr(text.rfind('/') + 1);
}

std::optional<std::uint64_t> bytes_of(const Capture::Node& node) {
  if (!node.read_bytes && !node.write_bytes) {
    return std::nullopt;
  }
  return node.read_bytes.value_or(0) + node.write_bytes.value_or(0);
}

const NodeTiming* timing_of(const CaptureStatistics& statistics, std::uint32_t node) {
  return node < statistics.nodes.size() && statistics.nodes[node] ? &*statistics.nodes[node]
                                                                  : nullptr;
}

double share_of(const CaptureStatistics& statistics, const NodeTiming& timing) {
  return statistics.p50_sum_ns == 0
             ? 0
             : static_cast<double>(timing.p50_ns) / static_cast<double>(statistics.p50_sum_ns);
}

std::vector<Attribute> attributes_of(const Capture::Node& node) {
  const std::string& text = node.attributes_json;
  const json object = text.size() <= kMaxJson && is_shallow(text)
                          ? json::parse(text, nullptr, false)
                          : json(json::value_t::discarded);
  if (!object.is_object()) {
    return {{.name = "", .value = text.substr(0, kMaxJson), .from_state = false}};
  }
  std::vector<Attribute> attributes;
  for (const auto& [name, value] : object.items()) {
    const bool from_state = value.is_object() && value.size() == 1 && value.contains("state");
    attributes.push_back({.name = name,
                          .value = text_of(from_state ? value["state"] : value),
                          .from_state = from_state});
  }
  return attributes;
}

std::uint32_t aliased(const Capture& capture, std::uint32_t tensor) {
  while (capture.tensors[tensor].alias_of) {  // always an earlier one
    tensor = *capture.tensors[tensor].alias_of;
  }
  return tensor;
}

Neighbours neighbours_of(const Capture& capture, std::uint32_t node, std::uint32_t tensor) {
  const std::uint32_t memory = aliased(capture, tensor);
  Neighbours found;
  for (const Capture::Edge& edge : capture.edges) {
    if ((edge.src == node || edge.dst == node) && aliased(capture, edge.tensor) == memory) {
      std::vector<std::uint32_t>& side = edge.dst == node ? found.before : found.after;
      const std::uint32_t other = edge.dst == node ? edge.src : edge.dst;
      if (std::find(side.begin(), side.end(), other) == side.end()) {
        side.push_back(other);
      }
    }
  }
  return found;
}

}  // namespace reprise::debugger
