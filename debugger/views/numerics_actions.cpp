#include "debugger/views/numerics_actions.h"

#include <algorithm>
#include <utility>

namespace reprise::debugger {

void select_first_diverging(Workspace& workspace) {
  workspace.errors.refresh(workspace.document.capture(), workspace.numbers);
  const NodeErrors& errors = workspace.errors.errors();
  if (errors.first) {
    workspace.select_node(*errors.rows[*errors.first].node);
    workspace.notice.clear();
  } else if (workspace.errors.references().empty()) {
    workspace.notice = "Nothing was compared: compare_numerics(graph, reference) or verify() does.";
  } else {
    workspace.notice = "No node differs from " +
                       workspace.errors.references()[workspace.errors.reference] +
                       " by more than the threshold.";
  }
}

namespace {

void show_replay(Workspace& workspace, const Workspace::WatchedReplay& watched) {
  workspace.watched_replay = watched;
  const std::vector<ReplayRow>& rows = workspace.document.replays().rows;
  const auto found = std::ranges::find(rows, watched.replay, &ReplayRow::id);
  if (found != rows.end()) {
    workspace.document.show_replay(static_cast<std::size_t>(found - rows.begin()));
  }
}

}  // namespace

void select_next_not_finite(Workspace& workspace) {
  const TensorStatistics* const numbers = workspace.numbers.value();
  const auto next = numbers == nullptr
                        ? std::nullopt
                        : next_not_finite(*numbers, workspace.selection.current().node);
  if (next) {
    workspace.select_node(*next);
    if (const auto replay = first_not_finite_replay(*numbers, *next)) {
      show_replay(workspace, {*next, *replay});
    }
    workspace.notice.clear();
  } else {
    workspace.notice = "No watched result held a NaN or infinity.";
  }
}

Actions NumericsActions::actions() {
  return {{"Go to the first node that differs from the reference", "F9",
           [this] { waiting_ = select_first_diverging; }},
          {"Go to the next node with a NaN or infinity", "N",
           [this] { waiting_ = select_next_not_finite; }}};
}

void NumericsActions::go_on(Workspace& workspace) {
  if (waiting_ == nullptr || !workspace.document.capture()) {
    return;
  }
  workspace.show_numbers();
  if (workspace.numbers.value() != nullptr) {
    std::exchange(waiting_, nullptr)(workspace);
  } else if (!workspace.numbers.problem().empty()) {
    workspace.notice = workspace.numbers.problem();
    waiting_ = nullptr;
  }
}

}  // namespace reprise::debugger
