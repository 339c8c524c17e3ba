#include "debugger/app/debugger.h"

#include <algorithm>
#include <utility>

#include "debugger/model/printable.h"
#include "debugger/views/menu_bar.h"

namespace reprise::debugger {
namespace {

/// The end of a path that is too long for a menu.
std::string menu_name(const std::string& path) {
  constexpr std::size_t kLongest = 60;
  const std::string name = printable(path);
  return name.size() <= kLongest ? name : "..." + name.substr(name.size() - kLongest);
}

bool failed(const DebuggerView& view) {
  const Document& document = view.workspace().document;
  return !document.capture() && !document.problem().empty();
}

/// It holds a capture, or is known to hold none.
bool is_read(const DebuggerView& view) {
  const Document& document = view.workspace().document;
  return document.capture() || (document.problem().empty() && !document.reading());
}

}  // namespace

Debugger::Debugger(Settings settings, std::vector<std::filesystem::path> source_roots,
                   std::function<DemoFiles()> record_demo)
    : settings_(std::move(settings)),
      source_roots_(std::move(source_roots)),
      record_demo_(std::move(record_demo)) {
  std::erase_if(settings_.recent, [](const std::string& file) {
    std::error_code gone;
    return !std::filesystem::is_regular_file(file, gone);
  });
}

// ---- opening

Debugger::ViewPointer Debugger::make(const std::filesystem::path& database) {
  auto view = std::make_unique<DebuggerView>(database, source_roots_);
  view->shell().add_actions_by([this](ActionGroups& groups) { add_actions(groups); });
  return view;
}

void Debugger::replace(ViewPointer by) {
  settings_ = settings();
  opened_ = std::move(by);
  opened_->use(settings_);
  settings_.remember(opened_->name());
  leave_start();
}

DebuggerView& Debugger::show(const std::filesystem::path& database) {
  replace(make(database));
  return *opened_;
}

void Debugger::open(const std::filesystem::path& database) try {
  problem_.clear();
  opening_.reset();
  start_ = true;
  opening_ = make(database);
} catch (const std::exception& e) {
  problem_ = e.what();
}

void Debugger::watch(const std::filesystem::path& folder) try {
  problem_.clear();
  folder_.emplace(folder);
} catch (const std::exception& e) {
  problem_ = e.what();
}

void Debugger::record_demo() {
  problem_.clear();
  start_ = true;
  demo_ = std::async(std::launch::async, record_demo_);
}

void Debugger::take_demo() try {
  const DemoFiles files = demo_.get();
  source_roots_.push_back(files.sources);
  open(files.after);
  if (opening_) {
    opening_->compare_with(files.before);
  }
} catch (const std::exception& e) {
  problem_ = e.what();
}

void Debugger::go_to_start(std::string_view focus) {
  start_ = true;
  wanted_focus_ = focus;
}

void Debugger::leave_start() {
  start_ = false;
  problem_.clear();
  opening_.reset();
}

// ---- commands

Actions Debugger::open_actions() {
  constexpr std::size_t kMaxRecent = 8;
  Actions actions{{"Open a file", "Ctrl+O", [this] { go_to_start("start/path"); }}};
  for (std::size_t i = 0; i < std::min(settings_.recent.size(), kMaxRecent); ++i) {
    const std::string& file = settings_.recent[i];
    actions.push_back({"Open " + menu_name(file), "", [this, file] { open(file); },
                       opened_ == nullptr || opened_->name() != file});
  }
  actions.push_back({"Watch a folder", "", [this] { go_to_start("start/folder"); }});
  actions.push_back(
      {"Record and open the demo", "", [this] { record_demo(); }, record_demo_ && !demo_.valid()});
  return actions;
}

void Debugger::add_actions(ActionGroups& groups) {
  groups.insert(groups.begin(), {"", open_actions(), Menu::file});
  groups.push_back({"",
                    {{"Larger",
                      "Ctrl++",
                      [this] { requests_.zoom = 1; },
                      true,
                      {"Ctrl+=", "Ctrl+Shift+=", "Ctrl+Shift++"}},
                     {"Smaller", "Ctrl+-", [this] { requests_.zoom = -1; }},
                     {"Usual size", "Ctrl+0", [this] { requests_.zoom = 0; }}},
                    Menu::view});
  groups.push_back(
      {"", {{"Close the window", "Ctrl+Q", [this] { requests_.close = true; }}}, Menu::file});
}

// ---- what is shown

std::string Debugger::problem() const {
  return opening_ && failed(*opening_) ? opening_->workspace().document.problem() : problem_;
}

StartContents Debugger::contents() const {
  StartContents contents;
  contents.recent = settings_.recent;
  if (folder_) {
    contents.watched = folder_->path().string();
    contents.appeared = folder_->files();
  }
  contents.problem = problem();
  if (opening_ && failed(*opening_)) {
    contents.problem +=
        " Run \"reprise db check " + opening_->name() + "\": it says what is wrong with a file.";
  } else if (opening_) {
    contents.progress = "Reading " + opening_->name();
  } else if (demo_.valid()) {
    contents.progress = "Recording the demo";
  }
  contents.problem = printable(contents.problem);
  contents.progress = printable(contents.progress);
  contents.open = opened_ ? opened_->workspace().document.path().filename().string() : "";
  contents.has_demo = record_demo_ != nullptr;
  return contents;
}

void Debugger::draw_start(Ui& ui) {
  const Box all = ui.rest();
  const Box bar{all.min, {all.max.x, all.min.y + ui.px(38)}};
  ui.fill(bar, ui.colour(Colour::header));
  if (!wanted_focus_.empty()) {
    ui.focus(std::exchange(wanted_focus_, {}));
  }
  const StartChoice choice = screen_.draw(ui, {{all.min.x, bar.max.y}, all.max}, contents());
  ActionGroups groups{commands_.help()};
  add_actions(groups);
  const float left = bar.min.x + ui.px(4);
  commands_.draw(ui, {{left, bar.min.y}, {left + menu_bar_width(ui), bar.max.y}}, groups,
                 [] { return ActionGroups(); });
  if (choice.open) {
    open(*choice.open);
  } else if (choice.watch) {
    watch(*choice.watch);
  } else if (choice.demo) {
    record_demo();
  } else if (choice.back || (opened_ && ui.keys().take("Escape"))) {
    leave_start();
  }
}

void Debugger::draw(Ui& ui) {
  if (start_) {
    draw_start(ui);
  } else {
    opened_->view().draw(ui);
  }
}

bool Debugger::poll() {
  bool changed =
      demo_.valid() && demo_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (changed) {
    take_demo();
  }
  changed = (opened_ && opened_->view().poll()) || changed;
  changed = (opening_ && opening_->view().poll()) || changed;
  if (folder_ && folder_->poll(WatchedFolder::Clock::now())) {
    changed = true;
    if (const auto file = folder_->take_new(); file && start_) {
      open(*file);
    }
  }
  if (opened_ && failed(*opened_) && !start_) {
    opening_ = std::move(opened_);  // may be mended, or not written yet
    start_ = changed = true;
  }
  if (opening_ && is_read(*opening_)) {
    replace(std::move(opening_));
    changed = true;
  }
  return changed;
}

bool Debugger::busy() const {
  return demo_.valid() || (opened_ && opened_->workspace().busy()) ||
         (opening_ && opening_->workspace().busy());
}

void Debugger::settle() {
  if (demo_.valid()) {
    take_demo();
  }
  for (const ViewPointer* view : {&opening_, &opened_}) {
    if (*view) {
      (*view)->view().settle();
    }
  }
  poll();
}

View Debugger::view() {
  View view;
  view.draw = [this](Ui& ui) { draw(ui); };
  view.poll = [this] { return poll(); };
  view.busy = [this] { return busy(); };
  view.settle = [this] { settle(); };
  view.theme = [this] {
    const bool light = opened_ ? opened_->workspace().light : settings_.light;
    return light ? ThemeKind::light : ThemeKind::dark;
  };
  view.drawn = [this](const FramePictures& pictures) {
    if (opened_ && !start_) {
      opened_->view().drawn(pictures);
    }
  };
  view.title = [this] {
    const std::string program = "reprise-debugger";
    return opened_ ? opened_->workspace().document.path().filename().string() + " - " + program
                   : program;
  };
  view.take_requests = [this] { return std::exchange(requests_, {}); };
  view.open_file = [this](const std::filesystem::path& path) { open(path); };
  return view;
}

Settings Debugger::settings() const {
  Settings now = settings_;
  if (opened_) {
    opened_->save_to(now);
  }
  return now;
}

}  // namespace reprise::debugger
