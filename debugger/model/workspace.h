// What all panels share: the document, what is selected, what is folded, the filter. Panels change
// it; nothing in it draws.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "debugger/model/bindings.h"
#include "debugger/model/capture_diff.h"
#include "debugger/model/document.h"
#include "debugger/model/fold_state.h"
#include "debugger/model/node_errors.h"
#include "debugger/model/numbers.h"
#include "debugger/model/query_runner.h"
#include "debugger/model/scope_tree.h"
#include "debugger/model/selection.h"
#include "debugger/model/source_files.h"

namespace reprise::debugger {

enum class ColourBy : std::uint8_t { time, op };

struct Workspace {
  explicit Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots);
  /// Document::poll(); a new capture resets selection and folds and builds its tree. True if
  /// anything that is drawn may have changed, always while `playing`.
  bool poll();
  /// Something is being read: a poll() soon will take it over.
  bool busy() const;
  void settle();

  /// Selects and asks the document for what the selection needs.
  void select(const Selection& selection);
  void select_node(std::uint32_t node) { select({.node = node, .item = {}}); }
  void back();
  void forward();

  Document document;
  ScopeTree scopes;  // of document.capture(); empty without one
  SelectionHistory selection;
  FoldState folds;
  std::string filter;  // of Nodes: see filter.h
  ColourBy colour_by = ColourBy::time;
  QueryRunner queries;
  NumberReads numbers;
  ErrorList errors;  // of `numbers`
  CaptureRead<Bindings> bindings;
  DiffReads diff;
  SourceFiles sources;
  /// A path of a node to bring into view, consumed by the graph; set by select_node of other
  /// panels.
  bool reveal = false;
  bool playing = false;  // the replay shown moves on with time
  std::string notice;    // one line in the status bar: "Copied", "Wrote nodes.png"

 private:
  std::shared_ptr<const Capture> shown_;
};

}  // namespace reprise::debugger
