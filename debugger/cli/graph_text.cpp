#include "debugger/cli/graph_text.h"

#include <set>

#include "debugger/cli/table.h"
#include "debugger/model/printable.h"
#include "debugger/model/scope_tree.h"

namespace reprise::cli {
namespace {

using debugger::ScopeTree;

/// A quoted string of DOT.
std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char c : debugger::printable(text)) {
    escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return escaped + '"';
}

class Dot {
 public:
  explicit Dot(const Captured& captured) : captured_(captured), tree_(captured.capture) {}

  std::string text() {
    line(0, "digraph " + quoted(captured_.capture.summary.name) + " {");
    line(1, "label=" + quoted(title_of(captured_)) + ";");
    line(1, "node [shape=box];");
    if (!tree_.empty()) {
      for (const std::uint32_t child : tree_[0].children) {
        add(child, 1);
      }
    }
    add_edges();
    line(0, "}");
    return std::move(text_);
  }

 private:
  void line(std::size_t depth, const std::string& text) {
    text_ += std::string(2 * depth, ' ') + text + "\n";
  }

  /// Trees are as deep as scopes are, at most 64 parts.
  void add(std::uint32_t item, std::size_t depth) {
    const ScopeTree::Item& of = tree_[item];
    if (of.kind == ScopeTree::Kind::node) {
      const auto time = time_of_node(captured_, of.first).duration_ns;
      const std::string& op = captured_.capture.nodes[of.first].op;
      const std::string what = time ? op + ", " + microseconds(time) + " us" : op;
      return line(depth, "n" + std::to_string(of.first) + " [label=" + quoted(what) + "];");
    }
    line(depth, "subgraph cluster_" + std::to_string(item) + " {");
    line(depth + 1, "label=" + quoted(of.name) + ";");
    for (const std::uint32_t child : of.children) {
      add(child, depth + 1);
    }
    line(depth, "}");
  }

  void add_edges() {
    std::set<std::string> seen;
    for (const Capture::Edge& edge : captured_.capture.edges) {
      const bool flows = edge.kind == "RAW";
      const std::string text =
          "n" + std::to_string(edge.src) + " -> n" + std::to_string(edge.dst) +
          (flows ? " [label=" + quoted(captured_.capture.tensors[edge.tensor].name) + "];"
                 : " [style=dashed];");
      if (seen.insert(text).second) {
        line(1, text);
      }
    }
  }

  const Captured& captured_;
  ScopeTree tree_;
  std::string text_;
};

}  // namespace

std::string dot_text(const Captured& captured) { return Dot(captured).text(); }

}  // namespace reprise::cli
