// What the debugger remembers from one start to the next: a file of JSON that belongs to the user.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "debugger/model/bookmarks.h"
#include "debugger/model/layout.h"
#include "debugger/model/table_arrangement.h"

namespace reprise::debugger {

/// Of the window while it is not maximised, in units of the screen.
struct WindowPlace {
  int x = 0, y = 0, width = 0, height = 0;
  bool maximised = false;
  bool operator==(const WindowPlace&) const = default;
};

struct Settings {
  bool light = false;  // the theme
  int zoom = 0;        // steps from the scale of the screen
  std::optional<WindowPlace> window;
  std::size_t layout = 0;
  std::vector<Layout> layouts = usual_layouts();
  std::map<std::string, std::vector<Bookmark>> bookmarks;  // by absolute path of the database
  std::map<std::string, std::string> filters;              // of Nodes, by the same
  std::map<std::string, TableArrangement> tables;          // by "<panel>/<table>"
  std::set<std::string> sources;                           // SourceFiles::agreed()
  std::vector<std::string> recent;                         // databases, the latest first
  bool operator==(const Settings&) const = default;

  /// Puts a database in front of `recent`, of which the last go.
  void remember(const std::string& database);
};

/// $XDG_CONFIG_HOME/reprise/debugger.json, or that of ~/.config; empty without either.
std::filesystem::path settings_path();
/// What of a file can be used; the usual settings for the rest, or if there is none.
Settings read_settings(const std::filesystem::path& path);
/// Replaces the file. False if it cannot be written.
bool write_settings(const Settings& settings, const std::filesystem::path& path);
/// As write_settings(), but what is the same `before` and `now` stays as the file has it: another
/// window may have written that.
bool write_changes(const Settings& before, const Settings& now, const std::filesystem::path& path);

}  // namespace reprise::debugger
