#include "debugger/model/name_problems.h"

#include <algorithm>

#include "debugger/model/printable.h"
#include "debugger/model/scope_tree.h"

namespace reprise::debugger {
namespace {

bool is_text(const std::string& name) { return printable(name) == name; }

std::int64_t count_rows(const auto& rows, const auto& bad) {
  return std::count_if(rows.begin(), rows.end(), bad);
}

/// Parts of a scope; empty ones count, as nobody writes them.
std::size_t depth_of(const std::string& scope) {
  return static_cast<std::size_t>(std::count(scope.begin(), scope.end(), '/')) + 1;
}

}  // namespace

std::vector<FileProblem> name_problems(const Capture& capture) {
  std::vector<FileProblem> problems;
  const auto note = [&](const char* table, std::int64_t rows, const std::string& what) {
    if (rows > 0) {
      problems.push_back({table, std::to_string(rows) + " rows of " + table + what});
    }
  };
  const auto named = [](const auto& row) { return !is_text(row.name); };
  constexpr const char* kNoText =
      " have names with bytes that are no text to print: each is shown as '?'.";
  note("nodes",
       count_rows(capture.nodes,
                  [](const Capture::Node& node) {
                    return !is_text(node.op) || !is_text(node.scope) || !is_text(node.label);
                  }),
       kNoText);
  note("nodes",
       count_rows(
           capture.nodes,
           [](const Capture::Node& node) { return depth_of(node.scope) > ScopeTree::kDeepest; }),
       " lie in scopes deeper than " + std::to_string(ScopeTree::kDeepest) +
           ": what is deeper is one name.");
  note("kernels", count_rows(capture.kernels, named), kNoText);
  note("tensors", count_rows(capture.tensors, named), kNoText);
  note("state_fields", count_rows(capture.state_fields, named), kNoText);
  note("pass_decisions",
       count_rows(capture.pass_decisions,
                  [](const Capture::PassDecision& decision) {
                    return !is_text(decision.pass) || !is_text(decision.reason);
                  }),
       kNoText);
  return problems;
}

}  // namespace reprise::debugger
