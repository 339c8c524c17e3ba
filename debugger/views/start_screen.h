// What the window shows without a database: a path to open, recent files, a folder to watch, the
// demo.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

/// What there is to choose from.
struct StartContents {
  std::vector<std::string> recent;              // files, the latest first
  std::string watched;                          // the folder that is watched; empty without one
  std::vector<std::filesystem::path> appeared;  // the files in it, the newest first
  std::string problem;                          // why the last file or folder is not shown
  std::string progress;                         // "Reading x.db"; empty while nothing goes on
  std::string open;                             // the file to go back to; empty without one
  bool has_demo = false;
};

/// What a person chose.
struct StartChoice {
  std::optional<std::filesystem::path> open, watch;
  bool demo = false, back = false;
};

class StartScreen {
 public:
  /// Fills a box of the window. Paths: "start/path", "start/open", "start/recent/<n>",
  /// "start/folder", "start/watch", "start/watched/<n>", "start/demo", "start/problem".
  StartChoice draw(Ui& ui, const Box& box, const StartContents& contents);

 private:
  void draw_path(Ui& ui, const StartContents& contents, StartChoice& choice);
  void draw_folder(Ui& ui, const StartContents& contents, StartChoice& choice);

  std::string path_, folder_;
};

}  // namespace reprise::debugger
