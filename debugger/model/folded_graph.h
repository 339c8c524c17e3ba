// The graph of a capture as its folds show it: a box per visible item, edges merged between them.
// Tensors that every node only reads, such as weights, and the state block of a recording are named
// at the boxes that read them instead of being drawn as edges, as they would connect everything.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/fold_state.h"
#include "debugger/model/scope_tree.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct FoldedGraph {
  struct Box {
    std::uint32_t item = 0;  // of the scope tree
    ScopeTree::Kind kind = ScopeTree::Kind::node;
    std::string label;                    // "attn", "layer.*", "matmul"
    std::string detail;                   // "17 ops", "x5", "f32 [1, 64]"
    std::uint32_t first = 0, count = 0;   // nodes [first, first + count)
    std::uint32_t repeats = 1;            // scopes of a group
    std::vector<std::uint32_t> inputs;    // tensors named at the box, by first use
    std::vector<std::uint32_t> barriers;  // of the capture, between nodes of this box
  };
  struct Edge {
    std::uint32_t src = 0, dst = 0;  // boxes; src < dst
    bool data = true;                // dst reads what src wrote; otherwise it overwrites
    std::uint32_t tensors = 0;
    std::uint64_t bytes = 0;
    std::uint32_t tensor = 0;  // one of them
  };
  struct Barrier {
    std::uint32_t src = 0, dst = 0;       // boxes; src < dst
    std::vector<std::uint32_t> barriers;  // of the capture
  };
  std::vector<Box> boxes;   // in recorded order
  std::vector<Edge> edges;  // by src, then dst, data first
  std::vector<Barrier> barriers;
  std::vector<std::uint32_t> node_boxes;  // the box of each node

  bool empty() const { return boxes.empty(); }
};

FoldedGraph folded_graph(const Capture& capture, const ScopeTree& scopes, const FoldState& folds);

/// "f32 [1, 64]".
std::string tensor_text(const Capture::Tensor& tensor);

}  // namespace reprise::debugger
