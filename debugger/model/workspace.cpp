#include "debugger/model/workspace.h"

#include <algorithm>

#include "debugger/model/panel_reads.h"

namespace reprise::debugger {

Workspace::Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots)
    : document(database),
      queries(database),
      reads(std::make_unique<PanelReads>()),
      sources(std::move(source_roots)),
      jobs_{&queries} {
  for (WorkerJob* const job : reads->jobs()) {
    jobs_.push_back(job);
  }
}

Workspace::~Workspace() = default;

bool Workspace::busy() const {
  return document.reading() || std::any_of(jobs_.begin(), jobs_.end(),
                                           [](const WorkerJob* job) { return job->running(); });
}

bool Workspace::poll() {
  const bool document_changed = document.poll();
  bool job_finished = false;
  for (WorkerJob* const job : jobs_) {
    job_finished = job->poll() || job_finished;
  }
  if (document.capture() != shown_) {
    shown_ = document.capture();
    scopes = shown_ == nullptr ? ScopeTree() : ScopeTree(*shown_);
    folds = FoldState(scopes);
    selection.clear();
    reveal = false;
  }
  return document_changed || job_finished || playing;
}

void Workspace::settle() {
  document.settle();
  for (WorkerJob* const job : jobs_) {
    job->settle();
  }
  poll();
  document.settle();
}

void Workspace::select(const Selection& selected) {
  selection.go(selected);
  reveal = true;
  document.show_histogram(selected.node);
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

}  // namespace reprise::debugger
