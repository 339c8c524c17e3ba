// The debugger as a program: the start screen, the database that is open, and the one that is being
// opened. Opening another replaces the one on the screen once it has something to show.
#pragma once
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/app/debugger_view.h"
#include "debugger/model/watched_folder.h"
#include "debugger/views/start_screen.h"

namespace reprise::debugger {

/// Databases that the demo recorded, and the folder of the sources that they name, which are the
/// program's own: nobody is asked before they are shown.
struct DemoFiles {
  std::filesystem::path before, after, sources;
};

class Debugger {
 public:
  /// Shows the start screen. `record_demo` runs on a thread of its own; without it there is no
  /// demo.
  Debugger(Settings settings, std::vector<std::filesystem::path> source_roots,
           std::function<DemoFiles()> record_demo = {});

  /// Shows a database at once. Throws invalid_argument if there is no such file; if something else
  /// is wrong with it, poll() goes to the start screen, which says so.
  DebuggerView& show(const std::filesystem::path& database);
  /// Opens a database in the place of the one on the screen; the start screen says what is wrong
  /// with it.
  void open(const std::filesystem::path& database);
  /// Opens databases that appear in a folder while the start screen is shown.
  void watch(const std::filesystem::path& folder);

  /// Refers to this.
  View view();
  /// The database on the screen or behind the start screen; null without one.
  const DebuggerView* opened() const { return opened_.get(); }
  /// Why the last database or folder is not shown; empty if it is.
  std::string problem() const;
  /// The settings as they are now.
  Settings settings() const;

 private:
  using ViewPointer = std::unique_ptr<DebuggerView>;

  bool poll();
  void draw(Ui& ui);
  void draw_start(Ui& ui);
  void settle();
  bool busy() const;
  StartContents contents() const;
  ViewPointer make(const std::filesystem::path& database);
  void replace(ViewPointer by);
  void record_demo();
  void take_demo();
  void go_to_start(std::string_view focus);
  void leave_start();
  void add_actions(ActionGroups& groups);
  Actions open_actions();

  Settings settings_;  // as they were when the database on the screen was opened
  std::vector<std::filesystem::path> source_roots_;
  std::function<DemoFiles()> record_demo_;
  std::future<DemoFiles> demo_;  // valid while it is being recorded
  ViewPointer opened_, opening_;
  std::optional<WatchedFolder> folder_;
  std::string problem_;  // of what could not be begun
  std::string wanted_focus_;
  bool start_ = true;  // the start screen is shown
  StartScreen screen_;
  Commands commands_;  // of the start screen
  HostRequests requests_;
};

}  // namespace reprise::debugger
