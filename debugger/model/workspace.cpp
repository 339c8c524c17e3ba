#include "debugger/model/workspace.h"

#include <algorithm>
#include <utility>

#include "debugger/model/printable.h"

namespace reprise::debugger {

Workspace::Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots)
    : document(database),
      reads(database),
      queries([](const std::filesystem::path& path, const std::string& sql,
                 const std::stop_token& stop) { return run_sql(path, sql, {}, stop); }),
      sources(std::move(source_roots)) {}

bool Workspace::poll() {
  const bool document_changed = document.poll();
  reads.look();
  const bool ended = reads.poll();
  if (const auto outcome = exports.take()) {
    notice = *outcome;
  } else if (!exports.problem().empty()) {
    notice = exports.problem();
    exports.forget();
  }
  if (document.capture() != shown_) {
    shown_ = document.capture();
    scopes = shown_ == nullptr ? ScopeTree() : ScopeTree(*shown_);
    folds = FoldState(scopes);
    selection.clear();
    watched_replay.reset();
    reveal = false;
  }
  // Panels ask for these when they are drawn: they may still be those of another capture.
  const TensorStatistics* const of_tensors = numbers.key() == shown_ ? numbers.value() : nullptr;
  const Bindings* const of_pools = bindings.key() == shown_ ? bindings.value() : nullptr;
  const Noted now{document.revision(), numbers.revision(), bindings.revision(), of_tensors,
                  of_pools};
  if (std::exchange(noted_, now) != now) {
    file_notes.update(shown_, document.replays(), of_tensors, of_pools);
  }
  return document_changed || ended || playing;
}

void Workspace::settle() {
  document.settle();
  reads.settle();
  poll();
  document.settle();
}

void Workspace::open_other(const std::filesystem::path& file) {
  if (file.empty()) {
    other_file.forget();
  } else {
    other_file.ask(reads, file);
  }
}

void Workspace::select(const Selection& selected) {
  if (!has(selected)) {
    return;
  }
  selection.go(selected);
  reveal = true;
  document.show_histogram(selected.node);
}

bool Workspace::has(const Selection& place) const {
  const auto has_node = [&](std::uint32_t node) { return node < shown_->nodes.size(); };
  return shown_ != nullptr && (!place.node || has_node(*place.node)) &&
         (!place.item || *place.item < scopes.items().size()) &&
         std::ranges::all_of(place.nodes, has_node);
}

void Workspace::toggle_bookmark() {
  const Bookmark here{document.capture()->summary.id, selection.current()};
  bookmarks.toggle(here);
  const bool one = here.place.node || here.place.item;
  notice = !one                  ? "Select a node or a scope to bookmark"
           : bookmarks.has(here) ? "Bookmarked"
                                 : "Removed the bookmark";
}

void Workspace::select_nodes(std::vector<std::uint32_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.size() == 1) {
    select_node(nodes.front());
  } else {
    select({.node = {}, .item = {}, .nodes = std::move(nodes)});
  }
}

void Workspace::back() {
  selection.back();
  reveal = true;
  document.show_histogram(selection.current().node);
}

void Workspace::forward() {
  selection.forward();
  reveal = true;
  document.show_histogram(selection.current().node);
}

std::string place_name(const Workspace& workspace, const Selection& place) {
  if (!workspace.has(place)) {
    return "(not in this capture)";
  }
  if (place.node) {
    return "#" + std::to_string(*place.node) + " " +
           printable(workspace.document.capture()->nodes[*place.node].op);
  }
  return place.item ? printable(workspace.scopes[*place.item].path) : "nothing";
}

}  // namespace reprise::debugger
