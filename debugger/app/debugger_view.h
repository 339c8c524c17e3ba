// The debugger on a database, as hosts show it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debugger/app/view.h"
#include "debugger/model/settings.h"
#include "debugger/model/workspace.h"
#include "debugger/views/shell.h"

namespace reprise::debugger {

class DebuggerView {
 public:
  /// Throws Error(invalid_argument) if there is no such file; what else may be wrong with it is
  /// shown.
  DebuggerView(const std::filesystem::path& database,
               std::vector<std::filesystem::path> source_roots);

  /// Shows the first of the captures with that run and graph, in their order in the window; without
  /// one of the two, of any. Reads the database. Throws invalid_argument naming the captures there
  /// are.
  void choose(std::optional<std::int64_t> run, std::optional<std::int64_t> graph);
  /// Another database, whose captures Diff compares with. Throws as the constructor.
  void compare_with(const std::filesystem::path& other);

  /// Refers to this.
  View view();
  Shell& shell() { return shell_; }
  /// What the user's settings say of this database and of all of them.
  void use(const Settings& settings);
  /// The settings as they are now.
  void save_to(Settings& settings);
  const Workspace& workspace() const { return workspace_; }
  /// Of the database, in the settings.
  std::string name() const {
    return std::filesystem::absolute(workspace_.document.path()).string();
  }

 private:
  /// Of all panels, with their paths.
  std::vector<std::pair<std::string, TableArrangement*>> tables();
  void export_picture(const FramePictures& pictures);

  Workspace workspace_;
  Shell shell_;
};

}  // namespace reprise::debugger
