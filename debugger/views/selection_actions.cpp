#include "debugger/views/selection_actions.h"

#include <algorithm>

#include "debugger/model/node_details.h"
#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

/// "#15 matmul  layer.0/ffn  forward.cpp:46", a line per node; the path of a scope.
std::string selected_text(const Workspace& workspace) {
  const Selection& selection = workspace.selection.current();
  if (selection.item) {
    return place_name(workspace, selection);
  }
  std::vector<std::uint32_t> nodes = selection.nodes;
  if (selection.node) {
    nodes.push_back(*selection.node);
  }
  std::string text;
  for (const std::uint32_t node : nodes) {
    const Capture::Node& of = workspace.document.capture()->nodes[node];
    text += (text.empty() ? "" : "\n") + ("#" + std::to_string(node)) + " " + printable(of.op);
    for (const std::string& more : {of.scope, short_source_text(of)}) {
      text += more.empty() ? "" : "  " + printable(more);
    }
  }
  return text;
}

/// A word of the filter that finds exactly this value.
std::string filter_word(const std::string& key, const std::string& value) {
  return key + ":" + (value.find(' ') == std::string::npos ? value : "\"" + value + "\"");
}

}  // namespace

Actions selection_actions(Workspace& workspace) {
  const Selection selection = workspace.selection.current();
  const bool any = selection != Selection{};
  Actions actions{{"Copy", "Ctrl+C",
                   [&workspace] {
                     ImGui::SetClipboardText(selected_text(workspace).c_str());
                     workspace.notice = "Copied";
                   },
                   any}};
  struct Jump {
    const char* panel;
    const char* title;
  };
  constexpr Jump kJumps[] = {
      {"inspector", "Show source and times"}, {"graph", "Show in Graph"},
      {"timeline", "Show in Timeline"},       {"barriers", "Show in Barriers"},
      {"memory", "Show in Memory"},           {"tensors", "Show in Tensors"},
      {"numerics", "Show in Numerics"},       {"diff", "Compare in Diff"}};
  for (const Jump& jump : kJumps) {
    actions.push_back({jump.title, "",
                       [&workspace, panel = jump.panel] {
                         workspace.wanted_panel = panel;
                         workspace.reveal = true;
                       },
                       any});
  }
  const auto filter = [&](const char* title, const std::string& word) {
    actions.push_back({title, "",
                       [&workspace, word] {
                         workspace.filter = word;
                         workspace.wanted_panel = "nodes";
                       },
                       !word.empty()});
  };
  const Capture::Node* const node =
      selection.node ? &workspace.document.capture()->nodes[*selection.node] : nullptr;
  const std::string scope = node != nullptr  ? node->scope
                            : selection.item ? workspace.scopes[*selection.item].path
                                             : std::string();
  filter("Filter nodes by this op", node == nullptr ? "" : filter_word("op", node->op));
  filter("Filter nodes by this scope", scope.empty() ? "" : filter_word("scope", scope));
  return actions;
}

Actions selection_menu(Workspace& workspace) {
  Actions actions = selection_actions(workspace);
  std::erase_if(actions, [](const Action& action) { return !action.enabled; });
  actions.push_back({"Bookmark the selection, or remove its mark", "Ctrl+B",
                     [&workspace] { workspace.toggle_bookmark(); }});
  return actions;
}

}  // namespace reprise::debugger
