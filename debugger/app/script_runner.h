// Runs UI scripts on the headless host: the mouse and the keys go the way of those of a window.
#pragma once
#include "debugger/app/headless_host.h"
#include "debugger/app/ui_script.h"
#include "debugger/app/view.h"

namespace reprise::debugger {

class ScriptRunner {
 public:
  /// Both outlive the runner.
  ScriptRunner(HeadlessHost& host, const View& view);

  /// Each step begins when everything that was asked for is there and frames look alike. Throws
  /// Error(invalid_argument) that names the step and what was found instead of what it needs.
  void run(const UiScript& script);
  /// Until everything that was asked for is there and frames look alike.
  void settle();

 private:
  void frame();
  void run(const ScriptStep& step);
  const Widget& widget(const ScriptStep& step) const;
  /// A point of what is seen of a widget.
  static ImVec2 point_in(const Widget& widget, float x, float y);
  ImVec2 target(const ScriptStep& step) const;
  void click(ImVec2 at, ImGuiMouseButton button);
  void tap(const KeyPress& key);
  void type(std::string_view text);
  void drag(const ScriptStep& step);
  void expect_text(const ScriptStep& step) const;
  void expect_state(const ScriptStep& step) const;
  void expect_fit(const ScriptStep& step) const;
  [[noreturn]] void fail_absent(const ScriptStep& step) const;

  HeadlessHost& host_;
  const View& view_;
};

}  // namespace reprise::debugger
