// What the user points at; every panel shows the same. Going somewhere is remembered, as in a
// browser.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/statistics.h"

namespace reprise::debugger {

/// At most one of node, item and nodes is set.
struct Selection {
  std::optional<std::uint32_t> node;   // of the capture
  std::optional<std::uint32_t> item;   // of its ScopeTree: a scope or a group of repeated ones
  std::vector<std::uint32_t> nodes{};  // ascending: what a row of a panel stands for
  /// Whether it is the node, or one of the nodes; an item has no nodes of its own.
  bool holds(std::uint32_t which) const {
    return node == which || std::binary_search(nodes.begin(), nodes.end(), which);
  }
  bool operator==(const Selection&) const = default;
};

class SelectionHistory {
 public:
  const Selection& current() const { return places_[at_]; }
  /// Forgets what was ahead; going to where one is changes nothing.
  void go(const Selection& selection);
  bool can_go_back() const { return at_ > 0; }
  bool can_go_forward() const { return at_ + 1 < places_.size(); }
  void back();
  void forward();
  /// Another capture: its nodes are others.
  void clear();
  /// Another number whenever current() is another.
  std::uint64_t revision() const { return revision_; }

 private:
  static constexpr std::size_t kMost = 256;
  std::vector<Selection> places_{Selection{}};
  std::size_t at_ = 0;
  std::uint64_t revision_ = 0;
};

}  // namespace reprise::debugger
