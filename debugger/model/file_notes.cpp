#include "debugger/model/file_notes.h"

#include <algorithm>
#include <array>
#include <span>

#include "debugger/model/printable.h"
#include "debugger/model/scope_tree.h"

namespace reprise::debugger {
namespace {

struct PanelTables {
  std::string_view panel;
  std::array<std::string_view, 7> tables;
};
/// The log has a line for each problem of a capture, and the console shows rows as they are.
constexpr PanelTables kShown[] = {
    {"replays", {"replays", "recordings", "state_fields"}},
    {"outline", {"nodes", "node_stats"}},
    {"nodes", {"nodes", "steps", "node_stats"}},
    {"graph", {"nodes", "edges", "node_stats", "comparisons"}},
    {"kernels", {"kernels", "steps"}},
    {"diff", {"nodes", "steps", "tensors", "node_tensors", "node_stats", "snapshots"}},
    {"inspector",
     {"nodes", "steps", "node_tensors", "tensors", "edges", "barriers", "recording_pools"}},
    {"tensors", {"tensors", "node_tensors", "tensor_stats", "snapshots"}},
    {"timeline", {"steps", "step_timings", "barriers", "replays"}},
    {"memory", {"tensors", "pools", "graphs"}},
    {"barriers", {"barriers", "steps"}},
    {"passes", {"pass_decisions"}},
    {"statistics", {"nodes", "node_stats", "step_timings", "kernels"}},
    {"numerics", {"comparisons", "tensor_stats"}}};

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
  const auto note = [&](const char* table, std::int64_t rows, const char* what) {
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
       " lie in scopes deeper than 64: what is deeper is one name.");
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

void FileNotes::update(const std::shared_ptr<const Capture>& capture, const ReplayTable& replays,
                       const Numbers* numbers, const Bindings* bindings) {
  if (capture != capture_) {
    capture_ = capture;
    of_names_ = capture == nullptr ? std::vector<FileProblem>() : name_problems(*capture);
  }
  all_.clear();
  const auto add = [&](const std::vector<FileProblem>& problems) {
    all_.insert(all_.end(), problems.begin(), problems.end());
  };
  if (capture != nullptr) {
    add(capture->problems);
    add(of_names_);
  }
  if (replays.odd_numbers > 0) {
    all_.push_back({"replays", std::to_string(replays.odd_numbers) +
                                   " numbers of replays are negative, too large or not whole: "
                                   "those times are left out."});
  }
  if (numbers != nullptr) {
    add(numbers->problems);
  }
  if (bindings != nullptr && bindings->left_out > 0) {
    all_.push_back({"recording_pools", std::to_string(bindings->left_out) +
                                           " rows of recording_pools were left out: the graph has "
                                           "no such pool."});
  }
}

std::vector<std::string> FileNotes::of(std::string_view panel) const {
  const auto* const shown = std::ranges::find(kShown, panel, &PanelTables::panel);
  std::vector<std::string> notes;
  if (shown == std::end(kShown)) {
    return notes;
  }
  for (const FileProblem& problem : all_) {
    if (std::ranges::find(shown->tables, problem.table) != shown->tables.end()) {
      notes.push_back(problem.text);
    }
  }
  return notes;
}

}  // namespace reprise::debugger
