#include "debugger/model/workspace.h"

#include "debugger/model/printable.h"

namespace reprise::debugger {

Workspace::Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots)
    : document(database), queries(database), exports(database), sources(std::move(source_roots)) {}

bool Workspace::poll() {
  const bool document_changed = document.poll();
  const bool query_finished = queries.poll();
  const bool exported = exports.poll();
  if (exported) {
    notice = exports.outcome();
  }
  if (document.capture() != shown_) {
    shown_ = document.capture();
    scopes = shown_ == nullptr ? ScopeTree() : ScopeTree(*shown_);
    folds = FoldState(scopes);
    selection.clear();
    reveal = false;
  }
  return document_changed || query_finished || exported || playing;
}

void Workspace::settle() {
  document.settle();
  queries.settle();
  exports.settle();
  poll();
  document.settle();
}

void Workspace::select(const Selection& selected) {
  selection.go(selected);
  reveal = true;
  document.show_histogram(selected.node);
}

bool Workspace::has(const Selection& place) const {
  return shown_ != nullptr && (!place.node || *place.node < shown_->nodes.size()) &&
         (!place.item || *place.item < scopes.items().size());
}

void Workspace::go_to(const Selection& place) {
  if (has(place)) {
    select(place);
  }
}

void Workspace::toggle_bookmark() {
  const Bookmark here{document.capture()->summary.id, selection.current()};
  bookmarks.toggle(here);
  notice = here.place == Selection{} ? "Select something to bookmark"
           : bookmarks.has(here)     ? "Bookmarked"
                                     : "Removed the bookmark";
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
