// reprise-debugger: looks at what a profiling database captured.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "debugger/app/debugger.h"
#include "debugger/app/headless_host.h"
#include "debugger/app/script_runner.h"
#include "debugger/app/settings_keeper.h"
#include "debugger/app/ui_scale.h"
#include "debugger/app/window_host.h"
#include "debugger/demo/demo_capture.h"
#include "framework/programs/command_line.h"
#include "framework/programs/terminal.h"
#include "framework/programs/text_file.h"
#include "reprise/core/error.h"
#include "reprise/core/printable.h"

namespace reprise::debugger {
namespace {

struct Options {
  std::string database, against;
  std::optional<std::int64_t> graph, run;  // the capture to show
  bool demo = false;
  std::string keep;  // folder of the demo's databases
  std::vector<std::filesystem::path> sources;
  std::optional<float> scale;
  std::string theme;
  std::string state;  // file
  // of shot
  std::string output, panel, layout, script;
  std::string size = "1600x900";
};

/// Empty if it is a scale in range.
std::string check_scale(const std::string& text) {
  float scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  const bool read = error == std::errc() && end == text.data() + text.size();
  std::ostringstream why;
  why << "must be a number from " << kMinScale << " to " << kMaxScale << " (" << text << ")";
  return read && is_ui_scale(scale) ? "" : why.str();
}

/// Empty if it is "<width>x<height>" with both in range.
std::string check_size(const std::string& text) {
  std::istringstream in(text);
  unsigned int width = 0, height = 0;
  char by = 0;
  const bool read = (in >> width >> by >> height) && by == 'x' && in.peek() == EOF;
  constexpr unsigned int kLeast = 64, kMost = 8192;
  const bool fits = std::min(width, height) >= kLeast && std::max(width, height) <= kMost;
  return read && fits ? "" : "must be WIDTHxHEIGHT, each from 64 to 8192 pixels (" + text + ")";
}

UiScript read_script(const std::string& file) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
  return parse_script(programs::read_text(file, kMaxBytes));
}

/// Until the program ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "reprise-demo-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw_error(ErrorCode::io, "No folder (", name, ") could be made.");
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Where the demo is recorded: in a folder that stays, or in one that is removed at the end.
class DemoRecorder {
 public:
  explicit DemoRecorder(std::filesystem::path keep) : keep_(std::move(keep)) {}
  /// Each call records anew.
  DemoFiles record() {
    const std::filesystem::path folder =
        keep_.empty() ? temporary_.emplace_back(std::make_unique<TemporaryFolder>())->path()
                      : keep_;
    std::filesystem::create_directories(folder);
    const DemoCapture files = record_demo(folder);
    return {files.before, files.after, files.sources};
  }

 private:
  std::filesystem::path keep_;
  std::vector<std::unique_ptr<TemporaryFolder>> temporary_;
};

/// The captures that the command line names.
void open_captures(DebuggerView& debugger, const Options& options) {
  if (options.graph || options.run) {
    debugger.choose(options.run, options.graph);
  }
  if (!options.against.empty()) {
    debugger.compare_with(options.against);
  }
}

void open_window(const Options& options, DemoRecorder& demo) {
  const std::filesystem::path remembered = settings_path();
  Settings settings = read_settings(remembered);
  settings.light = options.theme.empty() ? settings.light : options.theme == "light";
  Debugger debugger(settings, options.sources, [&] { return demo.record(); });
  if (!options.database.empty()) {
    open_captures(debugger.show(options.database), options);
  }
  View view = debugger.view();
  WindowHost host({.title = view.title(),
                   .scale = options.scale,
                   .zoom = settings.zoom,
                   .place = settings.window,
                   .state = options.state});
  SettingsKeeper keeper(remembered, [&] {
    Settings now = debugger.settings();
    now.zoom = host.zoom();
    now.window = host.place();
    return now;
  });
  view.poll = [&, poll = view.poll] {
    keeper.look(SettingsKeeper::Clock::now());
    return poll();
  };
  host.run(view);
  if (!keeper.finish()) {
    std::cerr << "warning: The settings (" << printable(remembered.string())
              << ") cannot be written.\n";
  }
}

/// Throws invalid_argument naming the layouts there are.
std::size_t layout_named(const std::string& name, const std::vector<Layout>& layouts) {
  const auto found = std::ranges::find(layouts, name, &Layout::name);
  if (found != layouts.end()) {
    return static_cast<std::size_t>(found - layouts.begin());
  }
  std::string known;
  for (const Layout& layout : layouts) {
    known += (known.empty() ? "" : ", ") + layout.name;
  }
  throw_invalid_argument("There is no layout (", name, "); there are ", known, ".");
}

void shoot(const Options& options) {
  Settings settings;
  settings.light = options.theme == "light";
  settings.layout =
      options.layout.empty() ? settings.layout : layout_named(options.layout, settings.layouts);
  Debugger program(settings, options.sources);
  DebuggerView& debugger = program.show(options.database);
  open_captures(debugger, options);
  if (!options.panel.empty()) {
    debugger.shell().show(options.panel, true);
  }
  HeadlessOptions headless;
  char by = 0;
  std::istringstream(options.size) >> headless.width >> by >> headless.height;
  headless.scale = options.scale.value_or(1);
  HeadlessHost host(headless);
  const View view = program.view();
  ScriptRunner runner(host, view);
  runner.settle();
  if (!options.script.empty()) {
    runner.run(read_script(options.script));
  } else if (!program.problem().empty()) {
    throw_invalid_argument(program.problem());
  }
  if (!options.output.empty()) {
    write_png(host.picture(), options.output);
  }
}

void add_common(CLI::App& app, Options& options) {
  app.add_option("DB,--db", options.database, "Profiling database");
  app.add_option("--graph", options.graph, "Graph to show, by its id in the database");
  app.add_option("--run", options.run, "Run to show, by its id in the database");
  app.add_flag("--demo", options.demo,
               "Records a small decoder on the CPU, before and after a change, and shows both");
  app.add_option("--keep", options.keep, "Folder where the demo's two databases stay")
      ->needs("--demo");
  app.add_option("--against", options.against, "Database that Diff compares with, the earlier one");
  app.add_option("--source", options.sources, "Folder with the sources that recorded it; repeats")
      ->allow_extra_args(false);
  app.add_option("--scale", options.scale, "Size of text and widgets, 1 is 96 dpi")
      ->check(check_scale);
  app.add_option("--theme", options.theme, "Colours; a window remembers them")
      ->check(CLI::IsMember({"dark", "light"}));
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Looks at what a profiling database captured.", "reprise-debugger");
  app.set_version_flag("--version", "reprise-debugger 0.1.0");
  add_common(app, options);
  app.add_option("--state", options.state,
                 "File that holds, as JSON, what the window shows: for programs that drive it");
  CLI::App* shot =
      app.add_subcommand("shot", "Draws a picture, or runs a UI script, without a screen");
  add_common(*shot, options);
  shot->add_option("-o,--output", options.output, "PNG file to write");
  shot->add_option("--panel", options.panel, "Panel that fills the window");
  shot->add_option("--layout", options.layout, "Inspect, Performance, Numerics or Memory");
  shot->add_option("--script", options.script, "UI script to run first");
  shot->add_option("--size", options.size, "Pixels")->capture_default_str()->check(check_size);
  programs::refuse_large_numbers(app);
  try {
    app.parse(argc, argv);
    const bool captures = options.graph || options.run || !options.against.empty();
    if (options.demo ? !options.database.empty()
                     : options.database.empty() && (shot->parsed() || captures)) {
      throw CLI::RequiredError("Either DB or --demo");
    }
    if (shot->parsed() && options.output.empty() && options.script.empty()) {
      throw CLI::RequiredError("-o or --script");
    }
  } catch (const CLI::ParseError& e) {
    return programs::end_of_parsing(app, e);
  }
  DemoRecorder demo(options.keep);
  if (options.demo) {
    const DemoFiles files = demo.record();
    options.database = files.after;
    options.sources.push_back(files.sources);
    options.against = options.against.empty() ? files.before.string() : options.against;
  }
  if (shot->parsed()) {
    shoot(options);
  } else {
    open_window(options, demo);
  }
  return 0;
}

}  // namespace
}  // namespace reprise::debugger

int main(int argc, char** argv) try {
  return reprise::debugger::run(argc, argv);
} catch (const std::exception& e) {
  reprise::programs::print_error(e);
  return 1;
}
