#include "debugger/app/debugger_view.h"

#include <algorithm>
#include <utility>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

const std::filesystem::path& existing(const std::filesystem::path& database) {
  if (std::filesystem::is_directory(database)) {
    throw_invalid_argument("The path (", database.string(),
                           ") is a folder; a database is a file, such as ",
                           (database / "profile.db").string(), ".");
  }
  if (!std::filesystem::is_regular_file(database)) {
    throw_invalid_argument("There is no file (", database.string(), ").");
  }
  return database;
}

/// After those the user names: where the program was started, and beside the database. Not the root
/// of the file system: no file would lie outside.
std::vector<std::filesystem::path> with_usual_roots(std::vector<std::filesystem::path> roots,
                                                    const std::filesystem::path& database) {
  for (std::filesystem::path usual :
       {std::filesystem::current_path(), std::filesystem::absolute(database).parent_path()}) {
    if (usual.has_relative_path()) {
      roots.push_back(std::move(usual));
    }
  }
  return roots;
}

}  // namespace

DebuggerView::DebuggerView(const std::filesystem::path& database,
                           std::vector<std::filesystem::path> source_roots)
    : workspace_(existing(database), with_usual_roots(std::move(source_roots), database)) {}

std::vector<std::pair<std::string, TableArrangement*>> DebuggerView::tables() {
  std::vector<std::pair<std::string, TableArrangement*>> all;
  for (Panel* panel : shell_.panels()) {
    for (const PanelTable& table : panel->tables()) {
      all.emplace_back(std::string(panel->id()) + "/" + std::string(table.id), table.arrangement);
    }
  }
  return all;
}

void DebuggerView::use(const Settings& settings) {
  workspace_.light = settings.light;
  shell_.set_layouts(settings.layouts, settings.layout);
  if (const auto saved = settings.bookmarks.find(name()); saved != settings.bookmarks.end()) {
    workspace_.bookmarks = Bookmarks(saved->second);
  }
  if (const auto saved = settings.filters.find(name()); saved != settings.filters.end()) {
    workspace_.filter = saved->second;
  }
  workspace_.sources.agree(settings.sources);
  for (const auto& [path, arrangement] : tables()) {
    if (const auto saved = settings.tables.find(path); saved != settings.tables.end()) {
      *arrangement = saved->second;
    }
  }
}

void DebuggerView::save_to(Settings& settings) {
  settings.light = workspace_.light;
  settings.layouts = shell_.layouts();
  settings.layout = shell_.layout();
  if (workspace_.bookmarks.all().empty()) {
    settings.bookmarks.erase(name());
  } else {
    settings.bookmarks[name()] = workspace_.bookmarks.all();
  }
  if (workspace_.filter.empty()) {
    settings.filters.erase(name());
  } else {
    settings.filters[name()] = workspace_.filter;
  }
  settings.sources.insert(workspace_.sources.agreed().begin(), workspace_.sources.agreed().end());
  for (const auto& [path, arrangement] : tables()) {
    if (*arrangement == TableArrangement()) {
      settings.tables.erase(path);
    } else {
      settings.tables[path] = *arrangement;
    }
  }
}

void DebuggerView::choose(std::optional<std::int64_t> run, std::optional<std::int64_t> graph) {
  workspace_.settle();
  const std::vector<CaptureSummary>& captures = workspace_.document.captures();
  const auto found = std::ranges::find_if(captures, [&](const CaptureSummary& capture) {
    return capture.id.run == run.value_or(capture.id.run) &&
           capture.id.graph == graph.value_or(capture.id.graph);
  });
  if (found != captures.end()) {
    workspace_.document.choose(found->id);
    return;
  }
  if (captures.empty() && !workspace_.document.problem().empty()) {
    throw_invalid_argument(workspace_.document.problem());
  }
  constexpr std::size_t kMaxNamed = 8;
  std::string known;
  for (std::size_t c = 0; c < std::min(captures.size(), kMaxNamed); ++c) {
    known += (c == 0 ? "" : ", ") + std::string("run ") + std::to_string(captures[c].id.run) +
             " graph " + std::to_string(captures[c].id.graph);
  }
  known += captures.size() > kMaxNamed ? ", ..." : captures.empty() ? "none" : "";
  throw_invalid_argument(
      "The database has no capture of ",
      (run ? "run (" + std::to_string(*run) + ")" : std::string("any run")), " and ",
      (graph ? "graph (" + std::to_string(*graph) + ")" : std::string("any graph")), "; it has ",
      known, ".");
}

void DebuggerView::compare_with(const std::filesystem::path& other) {
  workspace_.open_other(existing(other));
}

View DebuggerView::view() {
  View view;
  view.draw = [this](Ui& ui) { shell_.draw(ui, workspace_); };
  view.poll = [this] { return workspace_.poll(); };
  view.busy = [this] { return workspace_.busy(); };
  view.settle = [this] { workspace_.settle(); };
  view.theme = [this] { return workspace_.light ? ThemeKind::light : ThemeKind::dark; };
  view.drawn = [this](const FramePictures& pictures) { export_picture(pictures); };
  return view;
}

void DebuggerView::export_picture(const FramePictures& pictures) try {
  if (const std::optional<PictureRequest> request = shell_.take_picture_request()) {
    const std::filesystem::path file = free_name(request->file);
    if (file.extension() == ".svg") {
      pictures.write_svg(request->box, file);
    } else {
      write_png(crop(pictures.pixels(), request->box), file);
    }
    workspace_.notice = "Wrote " + std::filesystem::absolute(file).string();
  }
} catch (const std::exception& e) {
  workspace_.notice = e.what();
}

}  // namespace reprise::debugger
