#include "debugger/views/graph_tooltips.h"

#include <algorithm>

#include "debugger/model/format.h"
#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kMaxListed = 8;

std::string and_more(std::size_t listed, std::size_t all) {
  return all > listed ? "\nand " + count_text(all - listed) + " more" : "";
}

std::string item_text(const GraphLook& look, std::uint32_t item) {
  const ScopeTree::Item& shown = look.scopes[item];
  std::string text = printable(shown.path.substr(0, 200));
  if (look.times.known()) {
    text += "\n" + duration_text(look.times.of(shown)) + ", " +
            percent_text(look.times.share(shown)) + " of all";
  }
  return text;
}

std::string inputs_text(const Capture& capture, const std::vector<std::uint32_t>& inputs) {
  std::string text = "reads";
  const std::size_t listed = std::min(inputs.size(), kMaxListed);
  for (std::size_t i = 0; i < listed; ++i) {
    const Capture::Tensor& tensor = capture.tensors[inputs[i]];
    text += "\n" + printable(tensor.name.substr(0, 100)) + "  " +
            printable(tensor_text(tensor).substr(0, 100)) + ", " + bytes_text(tensor.bytes);
  }
  return text + and_more(listed, inputs.size());
}

std::string detail_tooltip(const GraphLook& look, const GraphPainter& painter, std::uint32_t index,
                           ImVec2 mouse) {
  const FoldedGraph::Box& box = look.scene.graph.boxes[index];
  if (!painter.has_text()) {
    return item_text(look, box.item) + "\n" + look.scene.boxes[index].detail;
  }
  if (box.kind == ScopeTree::Kind::group) {
    const auto repetition = painter.repetition_at(index, mouse);
    return repetition ? item_text(look, *repetition) : "";
  }
  const bool inputs = box.kind == ScopeTree::Kind::node && !box.inputs.empty() &&
                      painter.inputs_of(index).contains(mouse);
  return inputs ? inputs_text(look.capture, box.inputs) : "";
}

}  // namespace

std::string line_tooltip(const GraphLook& look, std::uint32_t line_index) {
  const GraphScene::Line& line = look.scene.lines[line_index];
  const std::string ends =
      look.scene.boxes[line.src].label + " \xE2\x86\x92 " + look.scene.boxes[line.dst].label;
  if (line.kind != GraphScene::LineKind::barrier) {
    const FoldedGraph::Edge& edge = look.scene.graph.edges[line.index];
    const std::string& name = look.capture.tensors[edge.tensor].name;
    const std::string what =
        edge.tensors == 1 ? printable(name.substr(0, 200)) : count_text(edge.tensors) + " tensors";
    return ends + (edge.data ? "\n" : "\noverwrites ") + what + ", " + bytes_text(edge.bytes);
  }
  const std::vector<std::uint32_t>& barriers = look.scene.graph.barriers[line.index].barriers;
  std::string text =
      count_text(barriers.size()) + (barriers.size() == 1 ? " barrier" : " barriers");
  const std::size_t listed = std::min(barriers.size(), kMaxListed);
  for (std::size_t i = 0; i < listed; ++i) {
    const Capture::Barrier& barrier = look.capture.barriers[barriers[i]];
    text += "\n" + printable(barrier.kind.substr(0, 20)) + ", " + bytes_text(barrier.size_bytes) +
            (barrier.emitted ? "" : ", not emitted") + ": " +
            printable(barrier.reason.substr(0, 200));
  }
  return text + and_more(listed, barriers.size());
}

std::string box_tooltip(const GraphLook& look, const GraphPainter& painter, std::uint32_t index,
                        ImVec2 mouse) {
  const std::string told = detail_tooltip(look, painter, index, mouse);
  return !painter.holds_not_finite(index)
             ? told
             : told + (told.empty() ? "" : "\n") + "a watched result held a NaN or infinity";
}

}  // namespace reprise::debugger
