// The whole debugger on a database, on the headless host.
#pragma once
#include <filesystem>
#include <string>

#include "debugger/app/debugger_view.h"
#include "debugger/app/script_runner.h"
#include "tests/debugger/panel_window.h"

namespace reprise::debugger {

class DebuggerWindow {
 public:
  /// `against`: what Diff compares with; may be empty.
  explicit DebuggerWindow(const std::filesystem::path& database,
                          const HeadlessOptions& options = {},
                          const std::filesystem::path& against = {})
      : debugger_(database, {captured_sources()}), host_(options), view_(debugger_.view()) {
    if (!against.empty()) {
      debugger_.compare_with(against);
    }
    run("wait");
  }

  /// See ui_script.h.
  void run(const std::string& script) { ScriptRunner(host_, view_).run(parse_script(script)); }
  const Workspace& workspace() const { return debugger_.workspace(); }
  HeadlessHost& host() { return host_; }

 private:
  DebuggerView debugger_;
  HeadlessHost host_;
  View view_;
};

}  // namespace reprise::debugger
