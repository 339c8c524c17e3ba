// Which capture the one on the screen is compared with, and how somebody chooses it: of the same
// file or of another, which is opened by its path.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/workspace.h"
#include "debugger/ui/ui.h"

namespace reprise::debugger {

class DiffChoice {
 public:
  /// In every frame before the rest: lists what there is and, of a file that somebody named or else
  /// of any, chooses the same graph, or one of the same name.
  void refresh(Workspace& workspace);
  /// What was chosen is no longer.
  void forget() { chosen_.reset(); }
  const std::optional<CaptureOfFile>& chosen() const { return chosen_; }
  /// Something other than the capture on the screen.
  bool has_any() const { return !candidates_.empty(); }
  void draw(Ui& ui, Workspace& workspace, const Box& box);

 private:
  struct Candidate {
    const CaptureSummary* of = nullptr;  // of the workspace or other_, in this frame
    bool of_other = false;               // in the other file
  };
  bool is_chosen(const Workspace& workspace, const Candidate& candidate) const;
  CaptureOfFile capture_of(const Workspace& workspace, const Candidate& candidate) const;

  std::vector<Candidate> candidates_;
  std::optional<CaptureOfFile> chosen_;
  OtherFile other_;   // the last one that could be read; none: an empty path
  std::string path_;  // as typed
};

}  // namespace reprise::debugger
