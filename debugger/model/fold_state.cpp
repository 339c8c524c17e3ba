#include "debugger/model/fold_state.h"

namespace reprise::debugger {

FoldState::FoldState(const ScopeTree& tree) : folded_(tree.items().size(), true) {
  if (!folded_.empty()) {
    folded_[0] = false;
  }
}

void FoldState::fold(std::uint32_t item, bool folded) {
  if (item != 0 && folded_[item] != folded) {
    folded_[item] = folded;
    ++version_;
  }
}

void FoldState::fold_all() {
  for (std::uint32_t item = 1; item < folded_.size(); ++item) {
    fold(item, true);
  }
}

void FoldState::unfold_all() {
  for (std::uint32_t item = 1; item < folded_.size(); ++item) {
    fold(item, false);
  }
}

void FoldState::reveal(const ScopeTree& tree, std::uint32_t item) {
  while (item != 0) {
    item = tree[item].parent;
    fold(item, false);
  }
}

std::vector<std::uint32_t> FoldState::visible(const ScopeTree& tree) const {
  std::vector<std::uint32_t> shown;
  std::vector<std::uint32_t> open;
  if (!tree.empty()) {
    open.push_back(0);
  }
  while (!open.empty()) {
    const std::uint32_t item = open.back();
    open.pop_back();
    if (folded(item) || tree[item].children.empty()) {
      if (item != 0) {
        shown.push_back(item);
      }
      continue;
    }
    open.insert(open.end(), tree[item].children.rbegin(), tree[item].children.rend());
  }
  return shown;
}

}  // namespace reprise::debugger
