// Every panel of the debugger in one window, tiled, on the headless host: what no layout shows.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "debugger/app/headless_host.h"
#include "debugger/app/view.h"
#include "debugger/views/shell.h"

namespace reprise::bench {

/// A window of 3840 x 2160 at 1x: the replay strip over all of its width, the other panels below in
/// a grid of 5 columns, so that each has about the size that it has in the usual layouts.
class PanelWall {
 public:
  /// Draws all panels until they have read what they show, with the middle node selected and
  /// all nodes queried. Throws if one of them has nothing to show.
  explicit PanelWall(const std::filesystem::path& database);

  std::vector<debugger::Panel*> panels() { return shell_.panels(); }
  debugger::Workspace& workspace() { return workspace_; }
  /// What is drawn from now on: one panel, in its box, or all of them.
  void show(debugger::Panel* only) { only_ = only; }
  void show_all() { only_.reset(); }
  void show_none() { only_ = nullptr; }

  /// Builds a frame, and draws nothing: what there is to do between two pictures.
  void frame() { host_.frame(view_.draw); }
  /// Frames until everything that was asked for is there. Steps are those of ui_script.h.
  void run(const std::string& script);

 private:
  void draw(debugger::Ui& ui);
  void require_contents() const;

  debugger::HeadlessHost host_;
  debugger::Workspace workspace_;
  debugger::Shell shell_;
  debugger::View view_;
  std::optional<debugger::Panel*> only_;
};

}  // namespace reprise::bench
