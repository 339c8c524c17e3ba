// One panel alone in a window, on the headless host.
#pragma once
#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "debugger/app/script_runner.h"
#include "debugger/views/panel.h"
#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {

/// The sources that the captures of data/ were recorded from, copied and dated before them.
inline const std::filesystem::path& captured_sources() {
  struct Copy : test::TempFolder {
    Copy() {
      const std::filesystem::path from = REPRISE_CAPTURED_SOURCES;
      const auto before = std::chrono::file_clock::from_sys(
          std::chrono::sys_seconds{std::chrono::sys_days{std::chrono::January / 1 / 2026}});
      for (const char* const file : {"samples/llama/forward.cpp", "samples/llama/generate.cpp",
                                     "debugger/demo/demo_capture.cpp"}) {
        const std::filesystem::path to = root / file;
        std::filesystem::create_directories(to.parent_path());
        std::filesystem::copy_file(from / file, to);
        std::filesystem::last_write_time(to, before);
      }
    }
    const std::filesystem::path root = *this / "";
  };
  static const Copy kCopy;
  return kCopy.root;
}

/// A capture of a decode run, copied: 91 nodes, 59 replays timed per node; an earlier one without
/// node times is {1, 1}. See data/record.sh.
class SampleDatabase {
 public:
  SampleDatabase() {
    std::filesystem::copy_file(
        std::filesystem::path(REPRISE_SOURCE_ROOT) / "tests/debugger/data/stories260K.db", path());
  }
  std::filesystem::path path() const { return folder_ / "profile.db"; }

 private:
  test::TempFolder folder_;
};

class PanelWindow {
 public:
  PanelWindow(const std::filesystem::path& database, std::unique_ptr<Panel> panel,
              const HeadlessOptions& options)
      : panel_(std::move(panel)), workspace_(database, {captured_sources()}), host_(options) {
    view_.draw = [this](Ui& ui) {
      ui.fill(ui.rest(), ui.colour(Colour::panel));
      draw_panel(ui, workspace_, *panel_, ui.rest());
      take_keys(ui, panel_->actions(workspace_));
    };
    view_.poll = [this] { return workspace_.poll(); };
    view_.settle = [this] { workspace_.settle(); };
    run("wait");
  }

  /// See ui_script.h.
  void run(const std::string& script) { ScriptRunner(host_, view_).run(parse_script(script)); }
  Workspace& workspace() { return workspace_; }
  const Document& document() const { return workspace_.document; }
  Panel& panel() { return *panel_; }
  HeadlessHost& host() { return host_; }
  /// The text of a widget of the last frame; "(absent)" if there is none.
  std::string text(std::string_view path) const {
    const Widget* const widget = host_.registry().find(path);
    return widget == nullptr ? "(absent)" : widget->text;
  }
  /// How many widgets of the last frame have a path that begins so and goes on without a slash.
  std::size_t count(std::string_view prefix) const {
    std::size_t found = 0;
    for (const auto& [path, widget] : host_.registry().widgets()) {
      found += path.starts_with(prefix) && path.find('/', prefix.size()) == std::string::npos;
    }
    return found;
  }

 private:
  std::unique_ptr<Panel> panel_;
  Workspace workspace_;
  HeadlessHost host_;
  View view_;
};

/// With the sample database.
template <class P>
class PanelTest : public ::testing::Test {
 protected:
  explicit PanelTest(const HeadlessOptions& options = {.width = 1000, .height = 500})
      : window_(database_.path(), std::make_unique<P>(), options) {}
  void run(const std::string& script) { window_.run(script); }

  SampleDatabase database_;
  PanelWindow window_;
};

}  // namespace reprise::debugger
