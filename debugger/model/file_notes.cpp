#include "debugger/model/file_notes.h"

#include <algorithm>
#include <array>

namespace reprise::debugger {
namespace {

struct PanelTables {
  std::string_view panel;
  std::array<std::string_view, 8> tables;
};
/// The log has a line for each problem of a capture, and the console shows rows as they are.
constexpr PanelTables kShown[] = {
    {"replays", {"replays", "recordings", "state_fields"}},
    {"outline", {"nodes", "node_stats"}},
    {"nodes", {"nodes", "steps", "kernels", "barriers", "recording_pools", "node_stats"}},
    {"graph",
     {"nodes", "edges", "steps", "barriers", "tensors", "node_tensors", "node_stats",
      "comparisons"}},
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

}  // namespace

void FileNotes::update(const std::shared_ptr<const Capture>& capture, const ReplayTable& replays,
                       const TensorStatistics* numbers, const Bindings* bindings) {
  all_.clear();
  const auto add = [&](const std::vector<FileProblem>& problems) {
    all_.insert(all_.end(), problems.begin(), problems.end());
  };
  if (capture != nullptr) {
    add(capture->problems);
  }
  if (replays.odd_numbers > 0) {
    all_.push_back({"replays", std::to_string(replays.odd_numbers) +
                                   " numbers of replays are negative, too large or not whole: "
                                   "times among them are left out."});
  }
  if (numbers != nullptr) {
    add(numbers->problems);
  }
  if (bindings != nullptr) {
    note_left_out(all_, bindings->left_out, "recording_pools", "the graph has no such pool");
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
