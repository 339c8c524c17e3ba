#include "debugger/model/workspace.h"

namespace reprise::debugger {

Workspace::Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots)
    : document(database),
      queries(database),
      numbers(database),
      bindings(database, read_bindings),
      diff(database),
      sources(std::move(source_roots)) {}

bool Workspace::poll() {
  const bool document_changed = document.poll();
  const bool query_finished = queries.poll();
  const bool numbers_changed = numbers.poll();
  const bool bindings_changed = bindings.poll();
  const bool diff_changed = diff.poll();
  if (document.capture() != shown_) {
    shown_ = document.capture();
    scopes = shown_ == nullptr ? ScopeTree() : ScopeTree(*shown_);
    folds = FoldState(scopes);
    selection.clear();
    reveal = false;
  }
  return document_changed || query_finished || numbers_changed || bindings_changed ||
         diff_changed || playing;
}

bool Workspace::busy() const {
  return document.reading() || queries.running() || numbers.reading() || bindings.reading() ||
         diff.reading();
}

void Workspace::settle() {
  document.settle();
  queries.settle();
  numbers.settle();
  bindings.settle();
  diff.settle();
  poll();
  document.settle();
}

void Workspace::select(const Selection& selected) {
  selection.go(selected);
  reveal = true;
  document.show_histogram(selected.node);
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

}  // namespace reprise::debugger
