// The scopes of a capture as a tree over its recorded order. A scope that is left and entered again
// is two items: every item is a run of neighbouring nodes, so folding any set of them leaves the
// graph without cycles. Neighbouring scopes that differ only in a number and hold the same ops form
// a group: "layer.*" of 32.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

class ScopeTree {
 public:
  /// Deeper scopes stay one name: every item holds its whole path, and names come from a file.
  static constexpr std::size_t kDeepest = 64;
  enum class Kind : std::uint8_t { root, group, scope, node };
  struct Item {
    Kind kind = Kind::scope;
    std::string name;  // the last part of the scope: "attn", "layer.3", "layer.*"; the op of a node
    std::string path;  // the whole scope: "layer.3/attn"; unique together with `first`
    std::uint32_t parent = 0;
    std::uint32_t first = 0, count = 0;   // nodes [first, first + count)
    std::vector<std::uint32_t> children;  // items, in recorded order; none of a node
    std::uint32_t depth = 0;              // 0: the root
  };

  ScopeTree() = default;
  explicit ScopeTree(const Capture& capture);
  /// Item 0 is the root; parents come before their children.
  const std::vector<Item>& items() const { return items_; }
  const Item& operator[](std::uint32_t item) const { return items_[item]; }
  bool empty() const { return items_.empty(); }
  /// The item of a node of the capture.
  std::uint32_t item_of_node(std::uint32_t node) const { return node_items_[node]; }

 private:
  std::vector<Item> items_;
  std::vector<std::uint32_t> node_items_;
};

}  // namespace reprise::debugger
