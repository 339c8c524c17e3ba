// What all panels share: the document, what is selected, what is folded, the filter. Panels change
// it; nothing in it draws.
#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/bindings.h"
#include "debugger/model/bookmarks.h"
#include "debugger/model/capture_diff.h"
#include "debugger/model/csv_export.h"
#include "debugger/model/document.h"
#include "debugger/model/file_notes.h"
#include "debugger/model/fold_state.h"
#include "debugger/model/node_errors.h"
#include "debugger/model/perturbation.h"
#include "debugger/model/read_scheduler.h"
#include "debugger/model/scope_tree.h"
#include "debugger/model/selection.h"
#include "debugger/model/source_files.h"
#include "debugger/model/tensor_statistics.h"

namespace reprise::debugger {

/// What the colours of the graph stand for.
enum class ColourBy : std::uint8_t { time, op, error, memory, variance, critical_path };

struct Workspace {
  explicit Workspace(const std::filesystem::path& database,
                     std::vector<std::filesystem::path> source_roots);
  /// Document::poll(); a new capture resets selection and folds and builds its tree. True if
  /// anything that is drawn may have changed, always while `playing`.
  bool poll();
  /// Something is being read: a poll() soon will take it over.
  bool busy() const { return document.reading() || reads.busy(); }
  void settle();

  /// Selects and asks the document for what the selection needs. Ignored if the capture has no such
  /// place, as with a bookmark of a file that was replaced.
  void select(const Selection& selection);
  void select_node(std::uint32_t node) { select({.node = node, .item = {}}); }
  /// The capture shown has this place.
  bool has(const Selection& place) const;
  /// In any order; one alone is selected as a node.
  void select_nodes(std::vector<std::uint32_t> nodes);
  void back();
  void forward();
  void toggle_bookmark();
  /// Another file whose captures Diff shows; an empty path: none. One that cannot be read leaves
  /// the one before.
  void open_other(const std::filesystem::path& file);
  /// Panels that show what tensors held, or what memory a capture is bound to, call them in every
  /// frame. There is a capture.
  void show_numbers() { numbers.show(reads, document.capture()); }
  void show_bindings() { bindings.show(reads, document.capture()); }

  Document document;
  ScopeTree scopes;  // of document.capture(); empty without one
  SelectionHistory selection;
  FoldState folds;
  std::string filter;  // of Nodes: see filter.h
  ColourBy colour_by = ColourBy::time;
  ReadScheduler reads;  // beside those of the document
  Read<std::string, SqlResult> queries;
  Read<CsvExport, std::string> exports{write_csv};  // of the sentence that says what was written
  TensorStatisticsRead numbers{of_capture<read_numbers>, Follow::file};
  ErrorList errors;  // of `numbers`
  Read<SnapshotKey, std::string> first_not_finite{read_first_not_finite};
  Read<CaptureKey, Bindings> bindings{of_capture<read_bindings>, Follow::file};
  Read<PerturbationKey, std::optional<Perturbation>> perturbation{read_perturbation};
  Read<std::filesystem::path, OtherFile> other_file{read_other_file};  // that Diff looks into
  Bookmarks bookmarks;
  SourceFiles sources;
  FileNotes file_notes;
  /// A path of a node to bring into view, consumed by the graph; set by select_node of other
  /// panels.
  bool reveal = false;
  /// The watched replay in which Tensors shows a node, until another one is chosen there.
  struct WatchedReplay {
    std::uint32_t node = 0;
    std::int64_t replay = 0;
  };
  std::optional<WatchedReplay> watched_replay;
  /// The id of a panel to bring into sight, consumed by the shell.
  std::string wanted_panel;
  bool playing = false;  // the replay shown moves on with time
  bool light = false;    // the theme
  std::string notice;    // one line in the status bar: "Copied", "Wrote nodes.png"

 private:
  std::shared_ptr<const Capture> shown_;
  /// What file_notes was made of.
  struct Noted {
    std::uint64_t document = 0, numbers = 0, bindings = 0;
    const TensorStatistics* of_tensors = nullptr;
    const Bindings* of_pools = nullptr;
    bool operator==(const Noted&) const = default;
  } noted_;
};

/// "#15 matmul", "layer.3/attn"; "(not in this capture)".
std::string place_name(const Workspace& workspace, const Selection& place);

}  // namespace reprise::debugger
