#include "debugger/model/workspace.h"

namespace reprise::debugger {

Workspace::Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots)
    : document(database), queries(database), sources(std::move(source_roots)) {}

bool Workspace::poll() {
  const bool document_changed = document.poll();
  const bool query_finished = queries.poll();
  if (document.capture() != shown_) {
    shown_ = document.capture();
    scopes = shown_ == nullptr ? ScopeTree() : ScopeTree(*shown_);
    folds = FoldState(scopes);
    selection.clear();
    reveal = false;
  }
  return document_changed || query_finished || playing;
}

void Workspace::settle() {
  document.settle();
  queries.settle();
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
