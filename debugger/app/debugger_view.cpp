#include "debugger/app/debugger_view.h"

#include <utility>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

const std::filesystem::path& existing(const std::filesystem::path& database) {
  if (!std::filesystem::is_regular_file(database)) {
    invalid("There is no file (" + database.string() + ").");
  }
  return database;
}

/// After those the user names: where the program was started, and beside the database.
std::vector<std::filesystem::path> with_usual_roots(std::vector<std::filesystem::path> roots,
                                                    const std::filesystem::path& database) {
  roots.push_back(std::filesystem::current_path());
  roots.push_back(std::filesystem::absolute(database).parent_path());
  return roots;
}

/// "nodes.png", or "nodes-2.png" and so on where there is one.
std::filesystem::path free_name(const std::filesystem::path& wanted) {
  std::filesystem::path name = wanted;
  for (int number = 2; std::filesystem::exists(name); ++number) {
    name = wanted.stem().string() + "-" + std::to_string(number) + wanted.extension().string();
  }
  return name;
}

}  // namespace

DebuggerView::DebuggerView(const std::filesystem::path& database,
                           std::vector<std::filesystem::path> source_roots)
    : workspace_(existing(database), with_usual_roots(std::move(source_roots), database)) {}

void DebuggerView::compare_with(const std::filesystem::path& other) {
  workspace_.diff.open(existing(other));
}

View DebuggerView::view() {
  View view;
  view.draw = [this](Ui& ui) { shell_.draw(ui, workspace_); };
  view.poll = [this] { return workspace_.poll(); };
  view.busy = [this] { return workspace_.busy(); };
  view.settle = [this] { workspace_.settle(); };
  view.drawn = [this](const std::function<Picture()>& take) { export_picture(take); };
  return view;
}

void DebuggerView::export_picture(const std::function<Picture()>& take) try {
  if (const std::optional<PictureRequest> request = shell_.take_picture_request()) {
    const std::filesystem::path file = free_name(request->file);
    write_png(crop(take(), request->box), file);
    workspace_.notice = "Wrote " + std::filesystem::absolute(file).string();
  }
} catch (const std::exception& e) {
  workspace_.notice = e.what();
}

}  // namespace reprise::debugger
