#include "debugger/views/fold_actions.h"

namespace reprise::debugger {
namespace {

/// Folds the selected scope, or the one around what is selected, which becomes selected.
void fold_selection(Workspace& workspace) {
  const std::uint32_t item = selected_item(workspace);
  const bool open = !workspace.folds.folded(item) && !workspace.scopes[item].children.empty();
  const std::uint32_t folded = open ? item : workspace.scopes[item].parent;
  if (folded != 0) {
    workspace.folds.fold(folded, true);
    workspace.select({.node = {}, .item = folded});
  }
}

}  // namespace

std::uint32_t selected_item(const Workspace& workspace) {
  const Selection& selection = workspace.selection.current();
  if (selection.node) {
    return workspace.scopes.item_of_node(*selection.node);
  }
  return selection.item.value_or(0);
}

Actions fold_actions(Workspace& workspace) {
  if (workspace.scopes.empty()) {
    return {};
  }
  return {{"Fold the selection", "[", [&] { fold_selection(workspace); }},
          {"Unfold the selection", "]",
           [&] {
             const std::uint32_t item = selected_item(workspace);
             workspace.folds.reveal(workspace.scopes, item);
             workspace.folds.fold(item, false);
           }},
          {"Fold all", "Shift+[", [&] { workspace.folds.fold_all(); }},
          {"Unfold all", "Shift+]", [&] { workspace.folds.unfold_all(); }}};
}

}  // namespace reprise::debugger
