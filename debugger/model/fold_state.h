// Which scopes and groups of a capture are unfolded. The outline and the graph share it.
#pragma once
#include <cstdint>
#include <vector>

#include "debugger/model/scope_tree.h"

namespace reprise::debugger {

class FoldState {
 public:
  FoldState() = default;
  /// Everything folded but the root.
  explicit FoldState(const ScopeTree& tree);
  bool folded(std::uint32_t item) const { return folded_[item]; }
  void fold(std::uint32_t item, bool folded);
  void toggle(std::uint32_t item) { fold(item, !folded_[item]); }
  void fold_all();
  void unfold_all();
  /// Unfolds what hides an item.
  void reveal(const ScopeTree& tree, std::uint32_t item);
  /// The items to draw, in recorded order: a folded scope hides what is in it, an unfolded one is
  /// replaced by its children.
  std::vector<std::uint32_t> visible(const ScopeTree& tree) const;
  /// Changes with every change of the folds.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<bool> folded_;
  std::uint64_t version_ = 0;
};

}  // namespace reprise::debugger
