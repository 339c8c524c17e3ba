// What the debugger remembers from one start to the next: a file of JSON that belongs to the user.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "debugger/model/bookmarks.h"
#include "debugger/model/layout.h"

namespace reprise::debugger {

struct Settings {
  bool light = false;  // the theme
  std::size_t layout = 0;
  std::vector<Layout> layouts = usual_layouts();
  std::map<std::string, std::vector<Bookmark>> bookmarks;  // by absolute path of the database
  bool operator==(const Settings&) const = default;
};

/// $XDG_CONFIG_HOME/reprise/debugger.json, or that of ~/.config; empty without either.
std::filesystem::path settings_path();
/// What of a file can be used; the usual settings for the rest, or if there is none.
Settings read_settings(const std::filesystem::path& path);
/// Replaces the file. False if it cannot be written.
bool write_settings(const Settings& settings, const std::filesystem::path& path);

}  // namespace reprise::debugger
