#include "debugger/model/folded_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "debugger/model/format.h"

namespace reprise::debugger {
namespace {

/// The tensor whose memory each one shows. A view comes after what it views; others are damaged
/// and stand for themselves.
std::vector<std::uint32_t> viewed_tensors(const Capture& capture) {
  std::vector<std::uint32_t> viewed(capture.tensors.size());
  for (std::uint32_t i = 0; i < viewed.size(); ++i) {
    const std::optional<std::uint32_t> of = capture.tensors[i].alias_of;
    viewed[i] = of && *of < i ? viewed[*of] : i;
  }
  return viewed;
}

/// Kernels that could read the state block have something bound in its place if the session has
/// none: nobody gave it, and it says nothing about the graph.
bool stands_in_for_state(const Capture& capture, const Capture::Tensor& tensor) {
  return capture.state_fields.empty() && tensor.role == "state" && tensor.name == "empty state";
}

/// Which tensors are named at their readers.
std::vector<bool> named_inputs(const Capture& capture, const std::vector<std::uint32_t>& viewed) {
  std::vector<bool> named(viewed.size(), true);
  for (const Capture::Operand& operand : capture.operands) {
    const std::uint32_t tensor = viewed[operand.tensor];
    if (operand.writes && capture.tensors[tensor].role != "state") {
      named[tensor] = false;
    }
  }
  return named;
}

std::string ops_text(std::uint32_t count) {
  return count_text(count) + (count == 1 ? " op" : " ops");
}

std::string detail_of(const Capture& capture, const ScopeTree::Item& item) {
  if (item.kind == ScopeTree::Kind::group) {
    return "\xC3\x97" + count_text(item.children.size()) + " \xC2\xB7 " + ops_text(item.count);
  }
  if (item.kind != ScopeTree::Kind::node) {
    return ops_text(item.count);
  }
  const Capture::Node& node = capture.nodes[item.first];
  for (std::uint32_t i = 0; i < node.operands.count; ++i) {
    const Capture::Operand& operand = capture.operands[node.operands.first + i];
    if (operand.writes) {
      return tensor_text(capture.tensors[operand.tensor]);
    }
  }
  return node.label;
}

void add_inputs(const Capture& capture, const std::vector<std::uint32_t>& viewed,
                const std::vector<bool>& named, FoldedGraph& graph) {
  std::vector<std::uint32_t> seen_by(viewed.size(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t b = 0; b < graph.boxes.size(); ++b) {
    FoldedGraph::Box& box = graph.boxes[b];
    for (std::uint32_t node = box.first; node < box.first + box.count; ++node) {
      const Capture::Range range = capture.nodes[node].operands;
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        const std::uint32_t tensor = viewed[capture.operands[i].tensor];
        if (capture.operands[i].reads && named[tensor] && seen_by[tensor] != b &&
            !stands_in_for_state(capture, capture.tensors[tensor])) {
          seen_by[tensor] = b;
          box.inputs.push_back(tensor);
        }
      }
    }
  }
}

void add_edges(const Capture& capture, const std::vector<std::uint32_t>& viewed,
               const std::vector<bool>& named, FoldedGraph& graph) {
  // (src, dst, overwrites, tensor)
  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool, std::uint32_t>> found;
  for (const Capture::Edge& edge : capture.edges) {
    const std::uint32_t src = graph.node_boxes[edge.src], dst = graph.node_boxes[edge.dst];
    const std::uint32_t tensor = viewed[edge.tensor];
    if (src < dst && !named[tensor]) {
      found.emplace_back(src, dst, edge.kind != "RAW", tensor);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const auto& [src, dst, overwrites, tensor] : found) {
    if (graph.edges.empty() || graph.edges.back().src != src || graph.edges.back().dst != dst ||
        graph.edges.back().data == overwrites) {
      graph.edges.push_back({src, dst, !overwrites, 0, 0, tensor});
    }
    ++graph.edges.back().tensors;
    graph.edges.back().bytes += capture.tensors[tensor].bytes;
  }
}

void add_barriers(const Capture& capture, FoldedGraph& graph) {
  const auto box_of_step = [&](std::optional<std::uint32_t> step) -> std::optional<std::uint32_t> {
    if (!step || !capture.steps[*step].node) {
      return std::nullopt;
    }
    return graph.node_boxes[*capture.steps[*step].node];
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> between;
  for (std::uint32_t i = 0; i < capture.barriers.size(); ++i) {
    const Capture::Barrier& barrier = capture.barriers[i];
    const std::optional<std::uint32_t> src = box_of_step(barrier.cause_src);
    std::optional<std::uint32_t> dst = box_of_step(barrier.cause_dst);
    if (!dst) {
      dst = box_of_step(barrier.before_step);
    }
    if (src && dst && *src < *dst) {
      between[{*src, *dst}].push_back(i);
    } else if (dst) {
      graph.boxes[*dst].barriers.push_back(i);
    }
  }
  for (auto& [boxes, barriers] : between) {
    graph.barriers.push_back({boxes.first, boxes.second, std::move(barriers)});
  }
}

}  // namespace

std::string tensor_text(const Capture::Tensor& tensor) {
  std::string shape;
  for (const char c : tensor.shape_json) {
    shape += c;
    if (c == ',') {
      shape += ' ';
    }
  }
  return tensor.dtype + " " + shape;
}

FoldedGraph folded_graph(const Capture& capture, const ScopeTree& scopes, const FoldState& folds) {
  FoldedGraph graph;
  graph.node_boxes.resize(capture.nodes.size());
  for (const std::uint32_t i : folds.visible(scopes)) {
    const ScopeTree::Item& item = scopes[i];
    std::fill_n(graph.node_boxes.begin() + item.first, item.count,
                static_cast<std::uint32_t>(graph.boxes.size()));
    FoldedGraph::Box box;
    box.item = i;
    box.kind = item.kind;
    box.label = item.name;
    box.detail = detail_of(capture, item);
    box.first = item.first;
    box.count = item.count;
    box.repeats =
        item.kind == ScopeTree::Kind::group ? static_cast<std::uint32_t>(item.children.size()) : 1;
    graph.boxes.push_back(std::move(box));
  }
  const std::vector<std::uint32_t> viewed = viewed_tensors(capture);
  const std::vector<bool> named = named_inputs(capture, viewed);
  add_inputs(capture, viewed, named, graph);
  add_edges(capture, viewed, named, graph);
  add_barriers(capture, graph);
  return graph;
}

}  // namespace reprise::debugger
